#include "jsonfile.h"
#include "err.h"
#include "inputs.h"
#include "json.h"
#include "str.h"
#include "tempfile.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

int
jsonfile_text(const char *file, struct str *s)
{
	bool standard = strcmp(file, "-") == 0;
	int fd, rc = 0;

	str_add(s, "");
	if (inputs_check(file) < 0)
		return -1;
	fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || str_read(s, fd) < 0)
		rc = err_fail_sys("cannot read '%s'", file);
	if (fd >= 0 && !standard)
		close(fd);
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
	struct str s = {0};
	int rc;

	json_append_line(&s, rec);
	rc = tempfile_write(file, s.s, s.len);
	str_free(&s);
	return rc;
}
