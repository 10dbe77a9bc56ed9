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
struct jsonl;
struct reading;
struct reading_case;

#define BRANCH_DIRTY "+dirty" /* behind a commit: a work tree with changes */

struct point {
	struct json *subject; /* of all its records, the first by its text */
	char *commit;         /* NULL: not known */
	char *time;           /* NULL: not known */
	char *name;           /* for people */
	double at; /* place on the line of commits, if there is a line;
		    * -1: none there */
	bool lost; /* it has no place: its values are not used */
};

struct series {
	const struct reading_case *kase;
	const struct json *config;
	const char *metric;
	size_t column; /* of the case */
};

/* The numbers of one series, while they are looked at. */
struct branch_values {
	double *v; /* median of each point; NAN: not measured */
	size_t n;  /* points that are measured */
	double *all;
	size_t *first; /* all[first[i]..first[i + 1]) are of point i, sorted */
};

struct loss { /* failed runs of a case */
	const struct json *config;
	const char *error; /* NULL: not said */
	size_t failed;
	size_t kase; /* equal for those of one case */
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
	struct reading *reading;
	size_t *now; /* where each point of the reading stands */
};

/* 'dir' is where what does not fit into memory goes, a file without a name. */
void branch_begin(struct branch *, const char *dir);

/* 0, or -1: some could not be read. */
int branch_read(struct branch *, struct jsonl *);

/* All is read: points and series are there. */
void branch_end(struct branch *);
void branch_free(struct branch *);

/* 0, or -1 and said; what the values hold is freed with branch_drop. */
int branch_values(
    const struct branch *, const struct series *, struct branch_values *);
void branch_drop(struct branch_values *);

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
