/* Foreign text as that of 'perf script' and 'perf stat -x;'. */
#include "json.h"
#include "vkb-profile/counters.h"
#include "vkb-profile/fold.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
fold(char *text, bool by_time)
{
	struct fold *f = fold_new(by_time);
	char *line, *written = NULL;
	size_t n;
	FILE *out;

	while ((line = strsep(&text, "\n")))
		fold_line(f, line);
	fold_finish(f);
	out = open_memstream(&written, &n);
	if (!out)
		abort();
	fold_write(f, out);
	fclose(out);
	/* Each line is a stack, a blank and digits; nothing in it breaks it. */
	for (const char *p = written; *p; p = strchr(p, '\n') + 1) {
		const char *end = strchr(p, '\n'), *digits = end;

		while (digits > p && digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		if (digits == end || digits == p || digits[-1] != ' ' ||
		    memchr(p, '\t', (size_t)(end - p)) ||
		    memchr(p, '\r', (size_t)(end - p)))
			abort();
	}
	free(written);
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
