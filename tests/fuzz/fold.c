/* Foreign text as that of 'perf script' and 'perf stat -x;'. */
#include "json.h"
#include "vkb-profile/counters.h"
#include "vkb-profile/fold.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
fold(char *text, bool by_time)
{
	struct fold *f = fold_new(by_time);
	char *line;

	while ((line = strsep(&text, "\n")))
		fold_line(f, line);
	fold_end(f);
	for (size_t i = 0; i < fold_count(f); i++)
		if (strpbrk(fold_stack(f, i), "\n\t\r"))
			abort();
	fold_free(f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	double shared;
	char *s;

	for (int i = 0; i < 2; i++) {
		s = strndup((const char *)data, size);
		if (!s)
			abort();
		if (i == 0)
			json_free(counters_parse(s, &shared));
		fold(s, i);
		free(s);
	}
	return 0;
}
