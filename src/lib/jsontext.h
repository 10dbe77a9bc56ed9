/* JSON as text: the text between the quotes of a string, and objects that
 * are written member by member, without a tree. */
#ifndef JSONTEXT_H
#define JSONTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct jsonscan_text;
struct str;

/* Appends the string as JSON, with its quotes. What is not UTF-8 becomes
 * U+FFFD. */
void jsontext_quote(struct str *, const char *);

/* Appends a comma, unless an object or array has just been opened. */
void jsontext_comma(struct str *);

/* Append a member of an object, with a comma if needed. Nothing is appended for
 * a number that is not finite or a string that is NULL: absent means unknown.
 * The key needs no escapes. jsontext_key: the value is to follow. */
void jsontext_key(struct str *, const char *key);
void jsontext_num(struct str *, const char *key, double v);
void jsontext_str(struct str *, const char *key, const char *s);
void jsontext_true(struct str *, const char *key);

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
