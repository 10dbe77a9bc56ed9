#include "jsonfile.h"
#include "err.h"
#include "json.h"
#include "str.h"
#include "tempfile.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
jsonfile_text(const char *file, struct str *s)
{
	bool standard = strcmp(file, "-") == 0;
	FILE *f = standard ? stdin : fopen(file, "re");
	char buf[65536];
	size_t n;
	int rc = 0;

	str_add(s, "");
	if (!f)
		return err_fail_sys("cannot read '%s'", file);
	while ((n = fread(buf, 1, sizeof buf, f)) > 0)
		str_addn(s, buf, n);
	if (ferror(f))
		rc = err_fail_sys("cannot read '%s'", file);
	if (!standard)
		fclose(f);
	return rc;
}

struct json *
jsonfile_parse(const struct str *text, const char *name)
{
	const char *why;
	size_t at, line = 1, start = 0;
	struct json *j = json_parse(text->s, text->len, &why, &at);

	if (j)
		return j;
	for (size_t i = 0; i < at && i < text->len; i++)
		if (text->s[i] == '\n') {
			line++;
			start = i + 1;
		}
	err_say("%s:%zu:%zu: not JSON: %s", name, line, at - start + 1, why);
	return NULL;
}

struct json *
jsonfile_read(const char *file)
{
	struct str s = {0};
	struct json *j = NULL;

	if (jsonfile_text(file, &s) == 0)
		j = jsonfile_parse(&s, strcmp(file, "-") == 0 ? "stdin" : file);
	str_free(&s);
	return j;
}

int
jsonfile_write(const char *file, const struct json *rec)
{
	struct tempfile *t = tempfile_open(file);
	char *s;

	if (!t)
		return -1;
	s = json_print(rec);
	fprintf(tempfile_stream(t), "%s\n", s);
	free(s);
	return tempfile_commit(t);
}
