/*
 * All records of the input, by case and subject. Runs are summarised as in
 * vkb-stats. All borrowed pointers live as long as the model.
 */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "changetext.h"
#include "vkb-compare/recorded.h"

struct caseset;
struct json;
struct hashset;
struct jsonl;
struct intern;
struct row;

enum { MODEL_LOOKS = 6 };
enum { MODEL_SERIES = 24 }; /* runs of a cell whose series are kept */

struct subject {
	struct json *json;
	char *name;       /* unique, with the commit */
	char *brief;      /* without it where no other subject has that */
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
	struct model_case *kase;
	struct subject *subject;
	struct json *rec;     /* its summary, or NULL */
	struct list series;   /* of its first runs, in run order */
	struct list searches; /* 'capacity' of its first runs */
	bool split;           /* its runs are those of a delta's side */
};

struct model_result { /* a row of a comparison */
	const struct row *row;
	struct model_case *kase;
	const struct pair *pair;
};

struct pair { /* subjects that were compared: always two */
	struct subject *base, *contender;
	const struct comparison *c;
	struct list records; /* that it is made of, until all are read */
	bool whole;          /* its own record is among them */
};

struct model_case {
	struct json *config;
	char *name;
	size_t place;        /* index in 'order' */
	struct cell **cells; /* in the order of their subjects */
	size_t ncells, cap;
	const struct model_result **results;
	size_t nresults, rcap;
	size_t changes; /* number of change records */
};

struct change {
	const struct json *rec;
	struct model_case *kase;
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
	struct model_case **cases;
	struct model_case **order; /* most notable first */
	size_t ncases, kcap;
	struct cell *cells;
	size_t ncells, ccap;
	struct model_result *results; /* most notable first */
	size_t nresults;
	struct change *changes;
	size_t nchanges, hcap;
	struct pair *pairs; /* in input order */
	size_t npairs, pcap;
	struct recorded compared; /* by pair */
	struct list envs, profiles;
	struct list others;     /* other records, in input order */
	struct list all_failed; /* summaries whose runs all failed */
	size_t duplicates;      /* summaries that were given twice */
	bool incomplete;        /* some records could not be read */
	char *common;           /* what all cases have in common, for people */
	size_t records;         /* of known types */
	double runs, failed;
	struct caseset *subject_set, *config_set;
	struct intern *cell_keys; /* of kase and subject */
	struct hashset *seen;     /* summaries */
};

/* Reads all records. Returns 0, or -1 after reporting records that could not be
 * read. */
int model_read(struct model *, struct jsonl *);
void model_free(struct model *);

/* The case or subject must occur in a record that was read. */
const struct model_case *model_case(
    const struct model *, const struct json *config);
const struct subject *model_subject(
    const struct model *, const struct json *subject);

struct range {
	double lo, hi; /* NAN: absent */
};

/* Returns an interval of two numbers such as "ci95". */
struct range model_range(const struct json *pair);

/* Sorts names of metrics: those of metric_table first. */
void model_sort_metrics(const char **, size_t n);

/* Returns each of the *n metrics of the results, those of metric_table first.
 * The caller frees the array. */
const char **model_compared(const struct model *, size_t *n);

/* Compares times, of which NULL is the last. */
int model_compare_times(const char *, const char *);

/* Returns the object of a metric in the summary, or NULL. */
const struct json *model_metric(const struct cell *, const char *metric);

#endif
