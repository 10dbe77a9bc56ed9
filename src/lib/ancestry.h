/*
 * The order of commits, from commit records: the line of first parents with
 * most measured commits.
 */
#ifndef ANCESTRY_H
#define ANCESTRY_H

#include <stddef.h>

struct ancestry;
struct json;

struct ancestry *ancestry_new(void);
void ancestry_free(struct ancestry *);

/* Adds a commit record and takes it. A commit may be added more than once. */
void ancestry_add(struct ancestry *, struct json *commit);

/*
 * Chooses the line. 'measured' are ids of commits, which may be abbreviated or
 * NULL. Of lines with equally many, the one that ends last by time, then id.
 */
void ancestry_choose(struct ancestry *, const char *const *measured, size_t n);

enum ancestry_place {
	ANCESTRY_LINE,   /* *at is its index on the line */
	ANCESTRY_SIDE,   /* it is on a branch off the line */
	ANCESTRY_UNKNOWN /* *at is between the indexes, by its time */
};

/* Finds a commit. 'time', in UTC, is used if its record has none; it may be
 * NULL. *at is -1 if it has no place. */
enum ancestry_place ancestry_find(
    const struct ancestry *, const char *id, const char *time, double *at);

/* The number of commits on the line; the id and the time of one of them, both
 * borrowed. The time is NULL if its record has none. */
size_t ancestry_length(const struct ancestry *);
const char *ancestry_id(const struct ancestry *, size_t at);
const char *ancestry_time(const struct ancestry *, size_t at);

/* Returns the title of a commit, borrowed; NULL: not known. */
const char *ancestry_title(const struct ancestry *, const char *id);

#endif
