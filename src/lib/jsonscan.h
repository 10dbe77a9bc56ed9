/*
 * JSON text looked at strictly (the rules of json.h), without a tree and, but
 * for objects of more than JSONSCAN_KEYS members, without memory. Who knows
 * what he wants pulls it out, value by value:
 *
 *	jsonscan_begin(&c, text, n);
 *	if (jsonscan_object(&c, &o))
 *		while (jsonscan_member(&c, &o, &key))
 *			... jsonscan_number(&c, &v) or jsonscan_value(...) ...
 *	if (jsonscan_end(&c) == 0)	// all of it was JSON
 *
 * After trouble every call gives false. What is given is borrowed of the text,
 * and the text has a NUL behind its end.
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
	const char *at;  /* the trouble; NULL: it has no place */
	const char *why; /* NULL: it follows from the place */
	int depth;
	bool failed;
	bool known; /* that no key stands twice */
};

struct jsonscan_text {
	const char *s; /* of a string: between the quotes, as written */
	size_t n;
	bool escaped; /* something stands for something else */
};

struct jsonscan_keys {
	const char *from; /* where the object begins */
	size_t n;
	uint64_t looks;    /* of the keys so far */
	bool expected;     /* 'looks' lacks keys of jsonscan_expect */
	const char *twice; /* the second of two that are one */
	struct jsonscan_text v[JSONSCAN_KEYS];
};

void jsonscan_begin(struct jsonscan *, const char *s, size_t n);

/* 0, or -1 with *why and *at as json_parse gives them. */
int jsonscan_end(struct jsonscan *, const char **why, size_t *at);

/* All of the text: 0 or -1. */
int jsonscan_check(const char *s, size_t n, const char **why, size_t *at);

/* The first byte of the next value; '\0' after trouble. */
char jsonscan_peek(struct jsonscan *);

/* The next value. False: it is something else, or trouble. */
bool jsonscan_object(struct jsonscan *, struct jsonscan_keys *);
bool jsonscan_array(struct jsonscan *);
bool jsonscan_number(struct jsonscan *, double *);
bool jsonscan_string(struct jsonscan *, struct jsonscan_text *);

/* False at the end of the object or array too. 'first': before its first
 * element; it is set to false. */
bool jsonscan_member(
    struct jsonscan *, struct jsonscan_keys *, struct jsonscan_text *key);
bool jsonscan_element(struct jsonscan *, bool *first);

/*
 * jsonscan_member for a key that probably comes next: true, and its value comes
 * next, if it does and no blank stands before it. Nothing is read otherwise.
 * The key has no escape and was not expected in this object before.
 */
bool jsonscan_expect(
    struct jsonscan *, struct jsonscan_keys *, const char *key, size_t n);

/*
 * Any value: its text, and its json_hash, where they are not NULL.
 */
bool jsonscan_value(struct jsonscan *, struct jsonscan_text *, uint64_t *hash);

/* The key or string is this text. */
static inline bool
jsonscan_is(const struct jsonscan_text *t, const char *text)
{
	size_t n = strlen(text);

	return t->n == n && !t->escaped && memcmp(t->s, text, n) == 0;
}

#endif
