#include "output.h"
#include "err.h"
#include "mem.h"
#include "opt.h"
#include "sink.h"
#include "str.h"
#include "tempfile.h"

#include <libgen.h>
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

/* Returns the path without '.', '..' and links; the file may be missing. The
 * caller frees it. */
static char *
resolve_path(const char *path)
{
	char *whole = realpath(path, NULL), *a = mem_str(path),
	     *b = mem_str(path), *dir = realpath(dirname(a), NULL);

	if (!whole)
		whole =
		    dir ? mem_printf("%s/%s", dir, basename(b)) : mem_str(path);
	free(a);
	free(b);
	free(dir);
	return whole;
}

/* Reports an output with the destination of an earlier one. */
static int
check_unique_output(const struct output *v, size_t n)
{
	const struct output *o = &v[n];
	char *one = o->file ? resolve_path(o->file) : NULL, *other;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		other = v[i].file ? resolve_path(v[i].file) : NULL;
		if (!one && !other)
			rc = err_fail("option '--format': only one output "
				      "can go to stdout");
		else if (one && other && strcmp(one, other) == 0)
			rc = err_fail("option '--format': only one output "
				      "can go to '%s'",
			    o->file);
		free(other);
	}
	free(one);
	return rc;
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

bool
output_has_colour(const struct output *o)
{
	return !o->file && isatty(STDOUT_FILENO) && opt_allows_colour();
}

int
output_write(const struct output *o, const struct str *s)
{
	if (o->file)
		return tempfile_write(o->file, s->s, s->len);
	return sink_text(STDOUT_FILENO, s->s, s->len) < 0
	    ? err_fail_sys("cannot write to stdout")
	    : 0;
}
