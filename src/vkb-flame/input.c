#include "input.h"
#include "err.h"
#include "folded.h"
#include "folding.h"
#include "lines.h"
#include "perfdata.h"
#include "perftext.h"

#include <stdio.h>
#include <string.h>

/* Reads perf.data from fd, or if fd is -1, lines that `perf script` wrote. */
static int
read_samples(struct lines *l, int fd, struct calltree *t, size_t column,
    long samples, const struct folding_opts *o)
{
	struct folding *f = folding_new(t, column, samples, o);
	int rc = fd < 0 ? perftext_read(l, f)
			: perfdata_read(fd, lines_name(l), f, o->inlined);

	if (folding_count_others(f) && !o->event)
		err_say("%s: %llu samples of other events than '%s' are "
			"ignored; choose the event with --event",
		    lines_name(l), folding_count_others(f),
		    folding_get_event(f));
	folding_free(f);
	return rc;
}

/* Returns true for blank lines and comments. */
static bool
is_ignored(const char *s, size_t n)
{
	return strspn(s, " \t\r") == n || *s == '#';
}

/* Tells the format from the first line that is neither blank nor a comment. */
static int
read_profile(struct lines *l, int fd, struct calltree *t, size_t column,
    long samples, const struct folding_opts *o)
{
	const char *s;
	size_t n;
	int k;

	while ((k = lines_next(l, &s, &n)) > 0)
		if (!is_ignored(s, n))
			break;
	if (k <= 0)
		return k;
	if (lines_number(l) == 1 && n >= 8 && memcmp(s, "PERFILE2", 8) == 0)
		return read_samples(l, fd, t, column, samples, o);
	if (perftext_is_event(s, n)) {
		lines_unread(l);
		return read_samples(l, -1, t, column, samples, o);
	}
	if (folded_is_stack(s, n)) {
		lines_unread(l);
		return folded_read(l, t, column, samples);
	}
	return err_fail(
	    "%s:%llu: neither output of 'perf script' nor folded stacks",
	    lines_name(l), lines_number(l));
}

int
input_read(const char *file, struct calltree *t, size_t column, long samples,
    const struct folding_opts *o)
{
	bool in = strcmp(file, "-") == 0;
	FILE *f = in ? stdin : fopen(file, "re");
	struct lines *l;
	int rc;

	if (!f)
		return err_fail_sys("cannot read '%s'", file);
	l = lines_open(f, in ? "stdin" : file);
	rc = read_profile(l, fileno(f), t, column, samples, o);
	lines_close(l);
	return rc;
}
