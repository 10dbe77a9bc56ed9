/* Reads a history: records in, points and the values of each case out. */
#ifndef READING_H
#define READING_H

#include <stdbool.h>
#include <stddef.h>

#include "metric.h"
#include "rows.h"
#include "sessions.h"
#include "str.h"

struct branch;
struct json;
struct jsonl;

struct reading_case {
	const struct json *config;    /* borrowed from the configs */
	size_t ratios[METRIC_RATIOS]; /* values of ratios to a reference */
	size_t bases[METRIC_RATIOS];  /* of what they are ratios of */
	struct rows rows; /* session: the number of the point, block: the kind
			   * of environment in 'machines', index: of the
			   * server, order: of the settings */
	const char **binaries; /* hash of the server, by row; NULL: unknown */
	size_t binarycap;
};

struct reading_failure {
	size_t kase, point, failed;
	const char *error; /* from 'errors'; NULL: not known */
};

struct reading {
	struct intern *keys, *errors;              /* of points, of failures */
	struct intern *names;                      /* of metrics */
	struct caseset *subjects, *configs, *envs; /* a config is a case */
	struct intern *servers, *settings; /* of servers of modules; of hosts:
					    * a line NAME TAB VALUE for each */
	struct intern *sessions;
	size_t *points, *serving; /* by subject */
	const char **binaries;    /* by subject, too */
	size_t npoints, subjectcap;
	struct reading_case *v;
	size_t n, cap, pointcap;
	struct reading_failure *failures;
	size_t nfailures, failurecap;
	struct run_record_reader *reader;
	struct hashset *seen;
	struct machines *machines;
	size_t *kinds;           /* of 'machines', by environment */
	size_t *set;             /* of 'settings', by environment */
	const char **references; /* hash of it, by environment; NULL: none */
	size_t nkinds, kindcap;
	size_t bare;             /* the kind of runs without an environment */
	size_t mixed;            /* summaries of the runs of several hosts */
	enum sessions_host host; /* of all runs */
	struct ancestry *ancestry;
};

/* Have all values of the metric a ratio to a reference, by which they are
 * judged? */
bool reading_is_replaced(const struct reading_case *, const char *metric);

struct reading *reading_new(void);
void reading_free(struct reading *);

/* Returns the number of the point of a subject, that of its commit, or one that
 * no point has. */
size_t reading_find_point(const struct reading *, const struct json *subject);

/* Reads all records. Returns -1, after reporting it, if some could not be read;
 * the others are there. */
int reading_add(struct reading *, struct branch *, struct jsonl *);

#endif
