/*
 * The order of commits, from commit records: the line of first parents that
 * passes through most of the commits that were measured.
 */
#ifndef ANCESTRY_H
#define ANCESTRY_H

#include <stdbool.h>
#include <stddef.h>

struct ancestry;
struct json;

struct ancestry *ancestry_new(void);
void ancestry_free(struct ancestry *);

/* A commit record, taken. The same commit again is not counted. */
void ancestry_add(struct ancestry *, struct json *commit);

/*
 * Chooses the line. 'measured' are ids of commits, or starts of ids; NULL is
 * none. Of lines with equally many, the one that ends last, by time, then id.
 */
void ancestry_choose(struct ancestry *, const char *const *measured, size_t n);

enum ancestry_place {
	ANCESTRY_LINE,   /* *at is its place on the line, from 0 */
	ANCESTRY_SIDE,   /* it left the line: a branch */
	ANCESTRY_UNKNOWN /* *at is where its time belongs, where it has one */
};

/* 'time' is known otherwise, or NULL; *at is -1 where there is none. */
enum ancestry_place ancestry_find(
    const struct ancestry *, const char *id, const char *time, double *at);

size_t ancestry_length(const struct ancestry *);             /* of the line */
const char *ancestry_id(const struct ancestry *, size_t at); /* borrowed */
/* As its record says it, borrowed; NULL: not said. */
const char *ancestry_time(const struct ancestry *, size_t at);

#endif
