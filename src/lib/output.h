/*
 * Where reports go: "NAME" to stdout, "NAME:FILE" into a file that appears
 * whole. What a program gets by its option --format, which may be repeated.
 *
 *	static const char *const names[] = {"text", "csv", NULL};
 *	struct output *out = output_list(&o.formats, names, &n);
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>

struct opt_list;
struct str;

struct output {
	size_t format;    /* place in the names */
	const char *file; /* NULL: stdout; borrowed from the option */
};

/*
 * The outputs that are asked for; without any the first name, to stdout. At
 * most one goes to stdout, and none twice into one file. Caller frees with
 * free(); NULL, and said: the command line is wrong.
 */
struct output *output_list(
    const struct opt_list *, const char *const *names, size_t *n);

/* 0, or -1 and said. */
int output_write(const struct output *, const struct str *);

#endif
