/*
 * What a report is about: all records of the input, by case and subject. Runs
 * are summarised as vkb-stats does. Everything borrowed lives with the model.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct jsonl;
struct names;

enum { MODEL_LOOKS = 6 };
enum { MODEL_SERIES = 24 }; /* runs of a cell whose course is kept */

enum model_verdict {
	MODEL_REGRESSION,
	MODEL_IMPROVEMENT,
	MODEL_DIFFERENT,
	MODEL_INCONCLUSIVE,
	MODEL_INSUFFICIENT,
	MODEL_EQUIVALENT,
	MODEL_VERDICTS
};

const char *model_verdict_name(enum model_verdict);

struct subject {
	struct json *json;
	char *name;      /* of no other subject */
	const char *key; /* its record_room */
	size_t place;    /* in 'who' */
	size_t look;     /* its colour and shape; MODEL_LOOKS: it has none */
	bool baseline;
	bool contender;
};

struct cell {                 /* a case of a subject */
	size_t kase, subject; /* their numbers */
	size_t place, look;   /* of its subject */
	const char *time;     /* of its subject; NULL: unknown */
	struct json *rec;     /* its summary; NULL: there is none */
	struct json **series; /* of its first runs, in their order */
	size_t nseries, cap;
	size_t more; /* runs with a series that is not kept */
};

struct delta {
	const struct json *rec;
	size_t kase, base, contender;
	const char *metric;
	enum model_verdict verdict;
	bool gate, waived;
	double ratio, lo, hi; /* NAN: absent */
	const char *name;     /* of its case */
	size_t place;         /* of the contender */
};

struct kase {
	struct json *config;
	char *name;
	size_t place;        /* in 'order' */
	struct cell **cells; /* by the place of their subjects */
	size_t ncells, cap;
	struct delta **deltas;
	size_t ndeltas, dcap;
	size_t changes; /* change records */
};

struct change {
	const struct json *rec;
	size_t kase, subject;
	const char *metric, *kind;
	double ratio; /* NAN: absent */
};

struct list { /* of records */
	struct json **v;
	size_t n, cap;
};

struct model {
	struct subject *subjects;
	struct subject **who; /* baselines first, then by time */
	size_t nsubjects, scap;
	struct kase *cases;
	struct kase **order; /* the most remarkable ones first */
	size_t ncases, kcap;
	struct cell *cells;
	size_t ncells, ccap;
	struct delta *deltas; /* the most remarkable ones first */
	size_t ndeltas, dcap;
	struct change *changes;
	size_t nchanges, hcap;
	struct list comparisons, shifts, envs, profiles;
	struct list others; /* summaries, deltas and changes, as they came */
	struct list lost;   /* summaries of nothing but failed runs */
	size_t doubled;     /* summaries of a cell that has another */
	bool unread;        /* some records could not be read */
	char *common;       /* what all cases have in common, for people */
	size_t records;     /* of known use */
	double runs, failed;
	/* by which they are found */
	struct names *subject_keys, *case_keys, *cell_keys;
};

/*
 * Every record there is; what does not fit into memory goes to a file without a
 * name in 'dir'. 0, or -1 and said: some could not be read.
 */
int model_read(struct model *, struct jsonl *, const char *dir);
void model_free(struct model *);

/* Of a record that was read. */
const struct kase *model_case(const struct model *, const struct json *config);
const struct subject *model_subject(
    const struct model *, const struct json *subject);

/* The object of a summary's metric, or NULL. */
const struct json *model_metric(const struct cell *, const char *metric);

#endif
