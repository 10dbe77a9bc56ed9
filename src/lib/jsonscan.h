/*
 * Scans JSON text strictly (the rules of json.h), without a tree and, except
 * for objects of more than JSONSCAN_KEYS members, without memory. The caller
 * asks for each value by the type it expects:
 *
 * 	jsonscan_begin(&c, text, n);
 * 	if (jsonscan_object(&c, &o))
 * 		while (jsonscan_member(&c, &o, &key))
 * 			... jsonscan_number(&c, &v) or jsonscan_value(...) ...
 * 	if (jsonscan_end(&c) == 0)	// all of it was JSON
 *
 * After an error every call returns false. Results are borrowed from the text,
 * which must have a NUL behind its end.
 */
#ifndef JSONSCAN_H
#define JSONSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JSONSCAN_DEPTH 1000 /* objects and arrays in each other */
#define JSONSCAN_DIGITS 63  /* characters of a number: cJSON reads no more */
#define JSONSCAN_KEYS 24

struct jsonscan {
	const char *s, *p, *end;
	const char *at;  /* where the error is; NULL: unknown */
	const char *why; /* NULL: derived from the byte there */
	int depth;
	bool failed;
	bool known; /* it is known that no key is repeated */
};

struct jsonscan_text {
	const char *s; /* a string: between the quotes, as written */
	size_t n;
	bool escaped; /* it has escapes */
};

struct jsonscan_keys {
	const char *from; /* where the object begins */
	size_t n;
	uint64_t looks;    /* set of hashes of the keys so far */
	bool expected;     /* 'looks' lacks keys of jsonscan_expect */
	const char *twice; /* the second of two equal keys */
	struct jsonscan_text v[JSONSCAN_KEYS];
};

void jsonscan_begin(struct jsonscan *, const char *s, size_t n);

/* Ends the scan. Returns 0, or -1 with *why and *at as json_parse. */
int jsonscan_end(struct jsonscan *, const char **why, size_t *at);

/* Scans the whole text as one value. Returns as jsonscan_end. */
int jsonscan_check(const char *s, size_t n, const char **why, size_t *at);

/* Returns the first byte of the next value; '\0' after an error. */
char jsonscan_peek(struct jsonscan *);

/* Read the next value. Return false if it has another type, or on error. */
bool jsonscan_object(struct jsonscan *, struct jsonscan_keys *);
bool jsonscan_array(struct jsonscan *);
bool jsonscan_number(struct jsonscan *, double *);
bool jsonscan_string(struct jsonscan *, struct jsonscan_text *);

/* Go to the next member or element. False at the end, too. 'first': before the
 * first element; it is set to false. */
bool jsonscan_member(
    struct jsonscan *, struct jsonscan_keys *, struct jsonscan_text *key);
bool jsonscan_element(struct jsonscan *, bool *first);

/*
 * As jsonscan_member, for a key that probably comes next. Returns false and
 * reads nothing if another key comes next or a blank comes before it. The key
 * has no escape and was not expected in this object before.
 */
bool jsonscan_expect(
    struct jsonscan *, struct jsonscan_keys *, const char *key, size_t n);

/* Reads any value: its text and its json_hash, unless they are NULL. */
bool jsonscan_value(struct jsonscan *, struct jsonscan_text *, uint64_t *hash);

/* Returns true if the key or string is this text. */
static inline bool
jsonscan_is(const struct jsonscan_text *t, const char *text)
{
	size_t n = strlen(text);

	return t->n == n && !t->escaped && memcmp(t->s, text, n) == 0;
}

#endif
