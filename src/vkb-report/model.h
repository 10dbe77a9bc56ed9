/*
 * All records of the input, by case and subject. Runs are summarised as in
 * vkb-stats. All borrowed pointers live as long as the model.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "changetext.h"

struct caseset;
struct json;
struct jsonl;
struct intern;

enum { MODEL_LOOKS = 6 };
enum { MODEL_SERIES = 24 }; /* runs of a cell whose series are kept */

struct subject {
	struct json *json;
	char *name;       /* unique */
	const char *key;  /* from json_canonical */
	const char *time; /* NULL: unknown */
	size_t place;     /* index in 'ordered' */
	size_t look;      /* its colour and shape, or MODEL_LOOKS */
	bool baseline;
	bool contender;
	const struct subject *twin; /* compared with this equal one, or NULL */
};

struct list { /* records */
	struct json **v;
	size_t n, cap;
};

struct cell { /* one case of one subject */
	struct kase *kase;
	struct subject *subject;
	struct json *rec;     /* its summary, or NULL */
	struct list series;   /* of its first runs, in run order */
	struct list searches; /* 'capacity' of its first runs */
	bool split;           /* its runs are those of a delta's side */
};

struct delta {
	const struct json *rec;
	struct kase *kase;
	struct subject *base, *contender;
	struct changetext text;
	enum verdict verdict;
	bool gate, waived;
};

struct pair { /* subjects that were compared: always two */
	struct subject *base, *contender;
	const struct json *rec; /* the comparison record, or NULL */
};

struct kase {
	struct json *config;
	char *name;
	size_t place;        /* index in 'order' */
	struct cell **cells; /* in the order of their subjects */
	size_t ncells, cap;
	struct delta **deltas;
	size_t ndeltas, dcap;
	size_t changes; /* number of change records */
};

struct change {
	const struct json *rec;
	struct kase *kase;
	const struct subject *subject;
	struct changetext text;
	const char *slow; /* "slow " before the way of a slow change, or "" */
	const char *way;  /* changetext_way */
	const char
	    *class; /* "regression", "improvement", or "spike": neither */
};

struct model {
	struct subject **subjects;
	struct subject **ordered; /* baselines first, then by time */
	size_t nsubjects, scap;
	struct kase **cases;
	struct kase **order; /* most notable first */
	size_t ncases, kcap;
	struct cell *cells;
	size_t ncells, ccap;
	struct delta *deltas; /* most notable first */
	size_t ndeltas, dcap;
	struct change *changes;
	size_t nchanges, hcap;
	struct pair *pairs; /* in input order */
	size_t npairs, pcap;
	struct list shifts, envs, profiles;
	struct list others;     /* other records, in input order */
	struct list all_failed; /* summaries whose runs all failed */
	size_t duplicates;      /* summaries ignored: their cell has another */
	bool incomplete;        /* some records could not be read */
	char *common;           /* what all cases have in common, for people */
	size_t records;         /* of known types */
	double runs, failed;
	struct caseset *subject_set, *config_set;
	struct intern *cell_keys; /* of kase and subject */
};

/* Reads all records. Returns 0, or -1 after reporting records that could not be
 * read. */
int model_read(struct model *, struct jsonl *);
void model_free(struct model *);

/* The case or subject must occur in a record that was read. */
const struct kase *model_case(const struct model *, const struct json *config);
const struct subject *model_subject(
    const struct model *, const struct json *subject);

/* Orders gates first, then what needs most attention, then the size of the
 * change. */
int model_compare(const struct delta *, const struct delta *);

struct range {
	double lo, hi; /* NAN: absent */
};

/* Returns an interval of two numbers such as "ci95". */
struct range model_range(const struct json *pair);

/* Returns each of the *n metrics of deltas, those of metric_table first. The
 * caller frees the array. */
const char **model_compared(const struct model *, size_t *n);

/* Returns the object of a metric in the summary, or NULL. */
const struct json *model_metric(const struct cell *, const char *metric);

#endif
