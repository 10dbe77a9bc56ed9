/*
 * What stands between the quotes of a JSON string, and what it means.
 */
#ifndef JSONTEXT_H
#define JSONTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct jsonscan_text;
struct str;

/* Appends the string with its quotes. */
void jsontext_quote(struct str *, const char *);

/* Does the text hold a NUL byte, or one written as an escape? */
bool jsontext_holds_nul(const char *, size_t n);

/*
 * Behind the escape whose backslash is before 'p', and the character it means;
 * a pair of surrogates is one. NULL: it is none, and *at is where not.
 */
const char *jsontext_escape(const char *p, int *u, const char **at);

/* Of strings that were scanned, by the bytes they mean: <0, 0 or >0. */
int jsontext_order(const struct jsonscan_text *, const struct jsonscan_text *);

/* Adds the bytes that a string which was scanned means. */
void jsontext_resolve(struct str *, const struct jsonscan_text *);

#endif
