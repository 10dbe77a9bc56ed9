/*
 * What the charts of a history show: of the series that vkb-detect judges,
 * those by which cases are judged, at the commits of the branch of the newest
 * commit that is judged.
 */
#ifndef TRENDS_H
#define TRENDS_H

#include "branch.h"

#include <stdbool.h>
#include <stddef.h>

struct archive;
struct archive_entry;
struct json;
struct machines;

struct trend_series {
	size_t kase;        /* of 'cases' */
	const char *metric; /* borrowed from the branch */
	size_t machine;
	double *v; /* by commit; NAN: not measured */
};

struct trend_case {
	const struct reading_case *of;
	char *name;
	const char *primary; /* name of the case's primary metric */
};

struct trends {
	struct branch branch;                 /* all commits of the archive */
	const struct archive_entry **commits; /* in the order of the branch */
	const char **days;                    /* of the commits */
	size_t *places; /* the commit of each point of the branch, or n */
	size_t n;
	const struct archive_entry *newest; /* that is judged; NULL: none */
	struct trend_case *cases;           /* in the order of the branch */
	size_t ncases;
	struct trend_series *v;
	size_t nseries; /* in the order of cases, metrics, machines */
	const struct machines *machines;
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
 * Reads all records of the archive, which is borrowed, as vkb-detect does.
 * Returns -1, after reporting it, if some could not be read; the others are
 * there. Free with trends_free in any case.
 */
int trends_read(struct trends *, const struct archive *);
void trends_free(struct trends *);

/* Returns the number of the case with this configuration, or ncases. */
size_t trends_find_case(const struct trends *, const struct json *config);

/* Returns the place of the commit of a subject, or of a point of the branch, or
 * n. */
size_t trends_find_commit(const struct trends *, const struct json *subject);
size_t trends_find_place(const struct trends *, double point);

#endif
