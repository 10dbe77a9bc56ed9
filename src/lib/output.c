#include "output.h"
#include "err.h"
#include "mem.h"
#include "opt.h"
#include "str.h"
#include "tempfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
report_unknown_format(const char *s, const char *const *names)
{
	struct str all = {0};

	for (size_t i = 0; names[i]; i++)
		str_printf(&all, "%s%s", i ? ", " : "", names[i]);
	err_say("option '--format': '%s' is not one of %s, with or without "
		"':FILE'",
	    s, all.s);
	str_free(&all);
	return -1;
}

static int
parse_output(const char *s, const char *const *names, struct output *o)
{
	size_t n = strcspn(s, ":");

	for (size_t i = 0; names[i]; i++) {
		if (strlen(names[i]) != n || strncmp(s, names[i], n) != 0)
			continue;
		o->format = i;
		o->file = s[n] ? s + n + 1 : NULL;
		if (o->file && !*o->file)
			return err_fail("option '--format': '%s' lacks a file "
					"name after ':'",
			    s);
		return 0;
	}
	return report_unknown_format(s, names);
}

/* Reports an output with the destination of an earlier one. */
static int
check_unique_output(const struct output *v, size_t n)
{
	const struct output *o = &v[n];

	for (size_t i = 0; i < n; i++) {
		if (!o->file && !v[i].file)
			return err_fail("option '--format': only one output "
					"can go to stdout");
		if (o->file && v[i].file && strcmp(o->file, v[i].file) == 0)
			return err_fail(
			    "option '--format': only one output can go to '%s'",
			    o->file);
	}
	return 0;
}

struct output *
output_list(const struct opt_list *l, const char *const *names, size_t *n)
{
	struct output *v = mem_array(l->n + 1, sizeof *v);

	*n = l->n ? l->n : 1; /* a zeroed entry is the first name on stdout */
	for (size_t i = 0; i < l->n; i++)
		if (parse_output(l->v[i], names, &v[i]) < 0 ||
		    check_unique_output(v, i) < 0) {
			free(v);
			return NULL;
		}
	return v;
}

static int
write_to_fd(int fd, const struct str *s)
{
	for (size_t done = 0; done < s->len;) {
		ssize_t k = write(fd, s->s + done, s->len - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		done += (size_t)k;
	}
	return 0;
}

static int
write_to_file(const char *path, const struct str *s)
{
	struct tempfile *t = tempfile_open(path);

	if (!t)
		return -1;
	if (s->len && fwrite(s->s, 1, s->len, tempfile_stream(t)) != s->len) {
		err_fail_sys("cannot write '%s'", path);
		tempfile_discard(t);
		return -1;
	}
	return tempfile_commit(t);
}

int
output_write(const struct output *o, const struct str *s)
{
	if (!o->file)
		return write_to_fd(STDOUT_FILENO, s) < 0
		    ? err_fail_sys("cannot write to stdout")
		    : 0;
	return write_to_file(o->file, s);
}
