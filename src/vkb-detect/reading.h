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

/* What a text of a subject or config means; once for each way to write it. */
struct reading_room {
	bool known; /* it was seen to be one */
	uint64_t hash;
	size_t id; /* of the point or case */
};

struct reading_texts {
	struct names *names;
	struct reading_room *v;
	size_t n, cap;
	struct str last;
	size_t at; /* of the last one */
};

struct reading {
	struct names *keys, *cases, *errors; /* of points, cases, ... */
	struct reading_case *v;
	size_t n, cap, pointcap;
	struct reading_failure *failures;
	size_t nfailures, failurecap;
	struct reading_texts subjects, configs;
	struct str env;
	uint64_t env_hash;
	struct runlines *lines;
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
