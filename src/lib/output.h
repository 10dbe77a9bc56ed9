/*
 * The repeatable option --format: "NAME" writes a report to stdout, "NAME:FILE"
 * writes it to a file that appears whole.
 *
 *	static const char *const names[] = {"text", "csv", NULL};
 *	struct output *out = output_list(&o.formats, names, &n);
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct opt_list;
struct str;

struct output {
	size_t format;    /* index in the names */
	const char *file; /* NULL: stdout; borrowed from the option */
};

/*
 * Returns the *n outputs asked for, or the first name on stdout if there are
 * none. Caller frees with free(). Returns NULL after reporting an unknown name,
 * or two outputs to stdout or to one file.
 */
struct output *output_list(
    const struct opt_list *, const char *const *names, size_t *n);

/* Is the output a terminal that may have colours? */
bool output_has_colour(const struct output *);

/* Writes the text without its secrets (redact.h). Returns 0, or -1 after
 * reporting the error. */
int output_write(const struct output *, const struct str *);

#endif
