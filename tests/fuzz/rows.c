/*
 * Commands with fields of rows: the first line is a command, the others are
 * rows of CSV of the fields that it names. Written beforehand or piece by
 * piece, the requests are the same, and RESP.
 */
#include "resp.h"
#include "str.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/rowset.h"
#include "vkb-load/engine/template.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FULL 4096
#define AT_ONCE 20
#define ROUNDS 3
#define PLENTY (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct engine_target single;

/* What a template makes of the rows; 'most' bytes of it beforehand. */
static void
requests(const struct engine_work *w, const struct rowset *rows, size_t most,
    bool sequential, struct str *to)
{
	struct keys keys = {.space = 12, .count = 12};
	struct cursor c = {
	    .chooser = sequential ? &chooser_sequential : &chooser_uniform};
	char *why = NULL, *buf;
	struct template *t = template_new(&single, w, &why);
	const struct cmdsource *o;
	size_t room, len;
	uint32_t n;

	if (!t)
		abort();
	template_bind(t, rows, most);
	o = template_source(t);
	room = o->ops->room(o, FULL);
	buf = calloc(room, 1);
	if (!buf)
		abort();
	rng_seed(&c.rng, 1, 1);
	for (int i = 0; i < ROUNDS; i++) {
		n = o->ops->make(o, &c, &keys, buf, AT_ONCE, FULL, &len);
		if (len > room)
			abort();
		resp_check(buf, len, n);
		str_addn(to, buf, len);
	}
	free(buf);
	template_free(t);
}

static struct rowset *
read_rows(const char *const *fields, const uint8_t *data, size_t size)
{
	struct dataset_want want = {.fields = fields};
	struct str head = {0};
	struct rowset *d;
	char path[64];
	int fd = memfd_create("rows", 0);

	for (size_t i = 0; fields[i]; i++) {
		str_add(&head, i ? ",\"" : "\"");
		for (const char *p = fields[i]; *p; p++) {
			str_addc(&head, *p);
			if (*p == '"')
				str_addc(&head, '"');
		}
		str_addc(&head, '"');
	}
	str_addc(&head, '\n');
	if (fd < 0 || write(fd, head.s, head.len) != (ssize_t)head.len ||
	    write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	want.path = path;
	d = dataset_read(&want, NULL, NULL);
	close(fd);
	str_free(&head);
	return d;
}

static void
compare(const struct engine_work *w, const struct rowset *rows, bool sequential)
{
	struct str before = {0}, pieces = {0};

	requests(w, rows, PLENTY, sequential, &before);
	requests(w, rows, 0, sequential, &pieces);
	if (before.len != pieces.len ||
	    memcmp(before.s, pieces.s, pieces.len) != 0)
		abort();
	str_free(&before);
	str_free(&pieces);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = memchr(data, '\n', size);
	struct engine_work w = {.data_size = 3};
	char *text, *why = NULL;
	struct template *t;
	struct rowset *d;

	if (!line)
		return 0;
	text = strndup((const char *)data, (size_t)(line - data));
	if (!text)
		abort();
	w.command = text;
	t = template_new(&single, &w, &why);
	if (t && *template_fields(t)) {
		d = read_rows(template_fields(t), line + 1,
		    size - (size_t)(line - data) - 1);
		if (d) {
			compare(&w, d, false);
			compare(&w, d, true);
			resp_choose_values(&w, size);
			compare(&w, d, false);
		}
		rowset_free(d);
	}
	template_free(t);
	free(why);
	free(text);
	return 0;
}
