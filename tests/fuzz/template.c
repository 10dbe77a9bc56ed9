/* Texts of commands with placeholders; what they give is RESP. */
#include "resp.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/template.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
make(const struct cmdsource *o)
{
	struct keys keys = {.space = 12, .count = 12};
	struct cursor c = {.chooser = &chooser_sequential};
	size_t len, room = o->ops->room(o, 4096);
	char *buf = cmdsource_buffer(o, 4096), *at;
	uint32_t n, i;

	rng_seed(&c.rng, 1, 1);
	for (i = 0; i < 3; i++, c.chooser = &chooser_uniform) {
		at = cmdsource_place(o, &c, buf);
		n = o->ops->make(o, &c, &keys, at, 20, 4096, &len);
		if (len > room || n == 0)
			abort();
		resp_check(at, len, n);
	}
	free(buf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1), *why = NULL;
	struct engine_target single = {0};
	struct engine_work w = {.data_size = 3, .command = s};
	struct template *t;

	if (!s)
		abort();
	memcpy(s, data, size);
	s[size] = '\0';
	/* The name of a test is not a template. */
	for (int i = 0; i < 2 && !command_known(s); i++) {
		t = template_new(&single, &w, &why);
		if (!t && !why)
			abort();
		if (t && !*template_fields(t))
			make(template_source(t));
		template_free(t);
		free(why);
		resp_choose_values(&w, size);
	}
	free(s);
	return 0;
}
