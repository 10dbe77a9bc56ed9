/*
 * The history of a branch: an ordered point for each measured commit, and a
 * series over the points for each case and metric.
 */
#ifndef BRANCH_H
#define BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct casename;
struct branch_column;
struct reading;
struct reading_case;
struct str;

#define BRANCH_DIRTY "+dirty" /* suffix of a commit: uncommitted changes */

struct branch_point {
	struct json *subject; /* of all its records, the first by its text */
	char *commit;         /* NULL: not known */
	char *time;           /* NULL: not known */
	char *name;           /* for people */
	const char *title;    /* of its commit, of the ancestry; NULL: not
			       * known, or there are uncommitted changes */
	double at;            /* index on the line of commits, or -1 */
	bool lost;            /* it has no place: its values are not used */
	uint32_t session;     /* the first, a number; 0: not known */
};

struct branch_series {
	const struct reading_case *kase;
	const struct json *config;
	const char *metric;
	size_t column;  /* of the case */
	size_t machine; /* of the reading's machines */
};

struct branch_setup { /* numbers of the reading's texts */
	uint32_t server, settings;
};

/* The values of one series. */
struct branch_values {
	double *v; /* median of each point; NAN: not measured */
	size_t n;  /* measured points */
	struct branch_setup *setups; /* of each point with values; of several
				      * the last by its text */
	double *all;
	size_t *first; /* all[first[i]..first[i + 1]) are of point i, in the
			* order of the input */
	bool counted;  /* all are of counted runs, and the metric is one of
			  counted.h */
	size_t others; /* values left out because others were counted and these
			  were not, or the reverse */
};

struct branch_loss { /* failed runs of a case */
	const struct json *config;
	const char
	    *error; /* at the commit with most of them; NULL: not known */
	size_t failed, commits;
};

struct branch {
	struct branch_point *points;
	size_t npoints, nlost;        /* points[npoints..] are lost */
	struct branch_series *series; /* by case, metric, machine */
	size_t nseries;
	struct branch_loss *losses; /* by case */
	size_t nlosses;
	size_t length;  /* commits on the line from the first to the last
			 * point; 0: there is no line */
	size_t by_time; /* points that are placed by their time */
	bool timed;     /* without a line: all are in the order of their time */
	size_t machines; /* that measured it */
	struct casename *names;
	struct reading *reading;
	size_t *places; /* of points, by their number in the reading */
};

/* Records are read by reading_add(branch.reading, ...). */
void branch_begin(struct branch *);

/* Makes the points, machines and series, after all is read. A host with 'least'
 * points is a machine of its own, see machines.h. */
void branch_end(struct branch *, size_t least);
void branch_free(struct branch *);

/* Returns the index of the point of a subject; npoints or more: it has none, or
 * that is lost. */
size_t branch_find_point(const struct branch *, const struct json *subject);

/*
 * Reads the values of a series; free them with branch_free_values. Where some
 * runs were counted and others measured, those of the newest point decide which
 * are kept, counted ones first.
 */
void branch_read_values(const struct branch *, const struct branch_series *,
    struct branch_values *);
void branch_free_values(struct branch_values *);

/* Reads the median of a series at each of all npoints + nlost points; NAN: it
 * was not measured there. */
void branch_read_medians(
    const struct branch *, const struct branch_series *, double *);

/*
 * Returns the index of the first point at or after a commit (or label, ref) or
 * date, npoints if that is after all of them, and -1, after reporting it, if it
 * is not known.
 */
long branch_find_since(const struct branch *, const char *since);

/*
 * Returns the first commit after point lo - 1: a change may be at any commit
 * from this one to that of point 'hi'. Borrowed; NULL: not known.
 */
const char *branch_first_suspect(const struct branch *, size_t lo);

/* Returns the number of these commits, measured or not. */
size_t branch_count_suspects(const struct branch *, size_t lo, size_t hi);

/* Adds what names a point in keys: its commit, or its subject if it has none.
 */
void branch_add_point(struct str *, const struct branch_point *);

/*
 * Returns the hash of a commit that marks the places after it: of those up to
 * branch_first_suspect, measured or not, the last whose hash is a multiple of
 * 'every'; without a line, of the points up to 'lo'. 0: none but the first.
 */
unsigned long long branch_find_mark(
    const struct branch *, size_t lo, unsigned every);

#endif
