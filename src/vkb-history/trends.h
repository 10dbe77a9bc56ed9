/*
 * The series of a history: the median of each metric of each case at each
 * commit of the newest commit's branch, for each machine (machines.h).
 */
#ifndef TRENDS_H
#define TRENDS_H

#include <stdbool.h>
#include <stddef.h>

struct archive;
struct archive_entry;
struct json;

enum { TRENDS_LEAST = 10 }; /* commits of a machine, as vkb-detect */

struct trend_series {
	size_t kase;        /* of 'cases' */
	const char *metric; /* borrowed from the trends */
	size_t machine;
	double *v; /* by commit; NAN: not measured */
};

struct trend_case {
	struct json *config;
	char *name;
	const char *primary; /* name of the case's primary metric */
};

struct trends {
	const struct archive_entry **commits; /* the oldest first */
	const char **days;                    /* of the commits */
	size_t n;
	struct trend_case *cases;
	size_t ncases;
	struct trend_series *v;
	size_t nseries; /* in the order of cases, metrics, machines */
	struct machines *machines;
	struct intern *metrics;
	char *common; /* what all cases have in common, for people */
};

/*
 * Returns the ref of an entry; NULL if it has none, or if that is the id of the
 * commit. Borrowed.
 */
const char *trends_branch(const struct archive_entry *);

/* Are both entries of one branch, as far as it is known? */
bool trends_same_branch(
    const struct archive_entry *, const struct archive_entry *);

/*
 * Reads the metrics by which cases are judged from all records of the archive,
 * which is borrowed. Returns -1, after reporting it, if some could not be read;
 * the others are there. Free with trends_free in any case.
 */
int trends_read(struct trends *, const struct archive *);
void trends_free(struct trends *);

/* Returns the number of the case with this configuration, or ncases. */
size_t trends_find_case(const struct trends *, const struct json *config);

/* Returns the place of the newest commit with this subject, or n. */
size_t trends_find_commit(const struct trends *, const struct json *subject);

#endif
