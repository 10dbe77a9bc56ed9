/* Mixes as configurations write them: MIXES OF COMMANDS in vkb-config(5). */
#ifndef MIXSPEC_H
#define MIXSPEC_H

#include <stdbool.h>
#include <stddef.h>

struct json;

#define MIXSPEC_MOST 64 /* commands */

struct mixspec_part {
	char *command; /* a test in its only form: upper case, LRANGE_100 */
	double weight;
};

struct mixspec {
	struct mixspec_part v[MIXSPEC_MOST];
	size_t n;
};

/*
 * Returns NULL, or why the text is not a mix, which the caller frees. Whether
 * there are such commands is not checked. Call mixspec_free if it returned
 * NULL.
 */
char *mixspec_parse(const char *text, struct mixspec *);
void mixspec_free(struct mixspec *);

/* Is a command of a mix the name of a test? */
bool mixspec_is_test(const char *command);

/* The text in its only form. Caller frees. */
char *mixspec_format(const struct mixspec *);

/*
 * Reads the long form, a list of objects with "command" and "weight", as
 * mixspec_parse.
 */
char *mixspec_read(const struct json *list, struct mixspec *);

#endif
