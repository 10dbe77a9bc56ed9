/*
 * The history of a branch: points in order, one for each commit that was
 * measured, and a series over them for each case and metric.
 */
#ifndef BRANCH_H
#define BRANCH_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct casename;

struct point {
	const struct json *subject; /* of its first record */
	const char *commit;         /* NULL: not known */
	const char *time;           /* NULL: not known */
	char *name;                 /* for people */
	double at; /* place on the line of commits; -1: none there */
	bool lost; /* it has no place: none of its values is used */
	size_t failed;
};

struct value {
	size_t kase, metric, point;
	double v;
};

struct series {
	const struct json *config;
	const char *metric;
	double *v; /* median of each point; NAN: not measured */
	size_t n;  /* points that are measured */
	const struct value *values; /* all, in the order of points */
	size_t nvalues;
};

struct loss { /* failed runs of a case */
	const struct json *config;
	const char *error; /* NULL: not said */
	size_t failed;
};

struct branch {
	struct point *points;
	size_t npoints, nlost; /* lost ones stand behind the others */
	struct series *series; /* by the order of cases, then metrics */
	size_t nseries;
	struct loss *losses;
	size_t nlosses;
	size_t length;  /* commits from the first to the last point, on the
			 * line; 0: the order is that of the input */
	size_t by_time; /* points that are placed by their time */
	struct casename *names;
	struct store *store;
};

/* All of the files ("-" is stdin). 0, or -1: some could not be read. */
int branch_read(struct branch *, const char *const *files, size_t n);
void branch_free(struct branch *);

/*
 * The first point at or after a commit (or label, ref) or date. -1, and said:
 * there is no such. npoints: it is after all of them.
 */
long branch_since(const struct branch *, const char *since);

/*
 * The first commit after the point before 'lo': the change may be at any from
 * it to that of 'hi'. Borrowed; NULL: not known.
 */
const char *branch_after(const struct branch *, size_t lo);

/* Commits from that to the one of point 'hi', measured or not. */
size_t branch_width(const struct branch *, size_t lo, size_t hi);

#endif
