/*
 * Reading a history: records in; points, and the numbers of each case, out.
 * Of runs no more is kept than a number for each metric, and those beyond some
 * megabytes lie in a file.
 */
#ifndef READING_H
#define READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rows.h"
#include "str.h"

struct branch;
struct jsonl;

struct reading_case {
	struct json *config;
	struct rows rows; /* session: the number of the point */
};

struct reading_failure {
	size_t kase, point, failed;
	const char *error; /* of 'errors'; NULL: not said */
};

struct reading {
	struct names *keys, *errors;               /* of points, of failures */
	struct caseset *subjects, *configs, *envs; /* a config is a case */
	size_t *points;                            /* of each subject */
	size_t npoints, subjectcap;
	struct reading_case *v;
	size_t n, cap, pointcap;
	struct reading_failure *failures;
	size_t nfailures, failurecap;
	struct run_reader *reader;
	struct seen *seen;
	struct scratch *scratch;
	size_t bytes, most; /* of rows in memory; 0: as many as there are */
	struct ancestry *ancestry;
};

/* 'dir' is where the file goes; borrowed. */
struct reading *reading_new(const char *dir);
void reading_free(struct reading *);

/* Everything; 0, or -1 and said: some could not be read. */
int reading_add(struct reading *, struct branch *, struct jsonl *);

#endif
