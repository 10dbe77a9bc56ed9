/* Live metrics of loads with foreign names: each line is one of the text format
 * of Prometheus, whatever the names are, and no series comes twice. */
#include "mem.h"
#include "str.h"
#include "vkb-load/case/livetext.h"
#include "vkb-load/engine/engine.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool good)
{
	if (!good)
		abort();
}

static const char *
skip_name(const char *p)
{
	must(isalpha((unsigned char)*p) || *p == '_');
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return p;
}

/* Skips {a="...",b="..."}. */
static const char *
skip_labels(const char *p)
{
	do {
		p = skip_name(p + 1);
		must(p[0] == '=' && p[1] == '"');
		for (p += 2; *p != '"'; p++) {
			must(*p && *p != '\n');
			if (*p == '\\')
				must(*++p == '\\' || *p == '"' || *p == 'n');
		}
		p++;
	} while (*p == ',');
	must(*p == '}');
	return p + 1;
}

static void
check_line(const char *line, const char *text)
{
	const char *p = line, *end;
	char *rest, *again;

	if (*p == '#') {
		must(str_starts(p, "# HELP vkb_") ||
		    str_starts(p, "# TYPE vkb_"));
		return;
	}
	p = skip_name(p);
	if (*p == '{')
		p = skip_labels(p);
	end = p;
	must(*p == ' ');
	strtod(p + 1, &rest);
	must(rest > p + 1 && *rest == '\n');
	again = mem_strn(line - 1, (size_t)(end - line) + 2);
	must(strstr(text, again) == line - 1 && !strstr(rest, again));
	free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *names = mem_strn((const char *)data, size), *p = names;
	const char *end = names + size, *run = p, *name;
	struct engine_ended e = {.length_s = 1, .requests = 3};
	struct livetext t = {0};
	struct str s = {0};
	size_t n = 0;

	livetext_begin(&t, run);
	for (p += strlen(p) + 1; p < end && n < 8; n++) {
		name = p;
		p += strlen(p) + 1;
		livetext_add(&t, name, p < end ? p : "", &e);
		p += p < end ? strlen(p) + 1 : 0;
	}
	str_add(&s, "\n");
	livetext_write(&t, &s);
	must(s.s[s.len - 1] == '\n' && str_utf8(s.s, s.len));
	for (const char *line = s.s + 1; *line; line = strchr(line, '\n') + 1)
		check_line(line, s.s);
	str_free(&s);
	livetext_free(&t);
	free(names);
	return 0;
}
