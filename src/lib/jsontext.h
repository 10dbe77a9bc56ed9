/* The text between the quotes of a JSON string, and what it means. */
#ifndef JSONTEXT_H
#define JSONTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct jsonscan_text;
struct str;

/* Appends the string as JSON, with its quotes. */
void jsontext_quote(struct str *, const char *);

/* Returns true if the text holds a NUL byte, or one written as an escape. */
bool jsontext_holds_nul(const char *, size_t n);

/*
 * Sets *u to the character of the escape whose backslash is before 'p'; two
 * surrogates are one. Returns its end; NULL if it is invalid, with *at where.
 */
const char *jsontext_escape(const char *p, int *u, const char **at);

/* Compares scanned strings by the bytes they mean: <0, 0 or >0. */
int jsontext_order(const struct jsonscan_text *, const struct jsonscan_text *);

/* Appends the bytes that a scanned string means. */
void jsontext_resolve(struct str *, const struct jsonscan_text *);

#endif
