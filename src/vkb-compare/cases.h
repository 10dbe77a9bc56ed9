/*
 * Sets of cases, read from run or summary records. A case is one configuration
 * measured for one subject.
 */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stddef.h>

struct caseset;
struct functions;
struct json;
struct part;
struct part_reader;
struct sample;

struct kase {
	const struct json *subject; /* borrowed from its set */
	const struct json *config;  /* NULL: it is of the set; cases_config */
	struct caseset *configs;
	struct part *parts; /* the first has the metrics of all */
	size_t nparts;
	size_t nagain;   /* parts[nparts..]: duplicates, not counted */
	const char *key; /* canonical text of the config; borrowed */
	size_t who;      /* index of its subject in the set */
};

struct cases {
	struct kase *v;
	size_t n, cap;
	const struct json **subjects; /* borrowed from 'met' */
	size_t *arrival; /* of each subject: its rank in the input */
	size_t nsubjects;
	struct caseset *configs, *met; /* met: all subjects of the input */
	struct part_reader *reader;    /* has what the parts borrow */
	bool shares;                   /* these three are of other cases */
	struct functions *functions;   /* of counted cases */
};

/* What to read: the values; also the histograms, which are large; or only the
 * subjects, also those of build records, which are not measured yet. */
enum cases_of { CASES_VALUES, CASES_HISTS, CASES_SUBJECTS };

/* Reads all files ("-" is stdin). Equal configurations of 'with', which lives
 * longer and may be NULL, are kept once. Returns -1, after reporting it, if
 * some could not be read; the others are read. */
int cases_read(struct cases *, const struct cases *with,
    const char *const *files, size_t n, enum cases_of);
void cases_free(struct cases *);

/* Compares keys by their numbers, then bytes: the order of the cases. */
int cases_compare_keys(const char *, const char *);

/* Returns the case of this key and subject, or NULL. */
const struct kase *cases_get(const struct cases *, const char *key, size_t who);

/* Returns the configuration; borrowed, until cases_forget_configs, after which
 * it is read again when it is asked for. */
const struct json *cases_config(const struct kase *);
void cases_forget_configs(const struct cases *);

/* Sum over the parts of a number of the record: "n", "failed". */
double cases_sum(const struct kase *, const char *key);

/* Returns the runs of a metric; they are empty if the case has none. */
const struct sample *cases_runs(const struct kase *, const char *metric);
/* Has the case, in some of its runs, a metric of this name? */
bool cases_have_metric(const struct kase *, const char *name);
/* Has it values of the metric, all of counted runs? */
bool cases_are_counted(const struct kase *, const char *metric);
/* Mean seconds of a run; NAN: not known. */
double cases_seconds(const struct kase *);
double cases_doubled(const struct kase *); /* runs given more than once */
/* Runs whose limit was the client. */
double cases_client_bound(const struct kase *);

/* Adds the environment of the parts to 'env', and the names of values that
 * differ between parts to 'varied'. */
void cases_env(const struct kase *, struct json *env, struct json *varied);

/* Returns a text of the environment that all runs share, or NULL: it is not
 * known, or there are several. Caller frees. */
char *cases_fact(const struct kase *, const char *key);

/* The errors of failed runs, of all parts; caller frees with json_free. */
struct json *cases_errors(const struct kase *);

#endif
