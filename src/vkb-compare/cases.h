/*
 * What is compared: sets of cases, read from run or summary records. A case
 * is one configuration measured for one subject.
 */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct names;
struct part;

struct kase {
	const struct json *config, *subject; /* borrowed from parts[0] */
	struct part *parts;
	size_t nparts;
	size_t nagain; /* behind them: parts that came before, not counted */
	char *key;     /* canonical text of the config */
	size_t who;    /* place of its subject in the set */
};

struct cases {
	struct kase *v;
	size_t n, cap;
	const struct json **subjects; /* borrowed from the cases */
	size_t nsubjects;
	struct names *rooms; /* texts of subjects, as they came */
	bool builds;         /* those of build records count */
};

/*
 * Reads all of the files ("-" is stdin). 0, or -1: some could not be read.
 * Histograms are large: they are left out unless 'hists'.
 */
int cases_read(struct cases *, const char *const *files, size_t n, bool hists);

/* The same for the subjects alone, of build records too: what can be measured
 * of them, before it is measured. */
int cases_read_subjects(struct cases *, const char *const *files, size_t n);
void cases_free(struct cases *);

/* The case of this key and subject; NULL: there is none. */
const struct kase *cases_get(const struct cases *, const char *key, size_t who);

/* Subjects by when they came first: the place of the subject 'who'. */
size_t cases_came(const struct cases *, size_t who);

/*
 * Numbers of runs after which a session looked, rising; of all parts, as none
 * of their looks was free. Caller frees.
 */
double *cases_looks(const struct kase *, size_t *n);

/* Numbers that add up over the parts: "n", "failed". */
double cases_sum(const struct kase *, const char *key);
double cases_doubled(const struct kase *); /* runs given more than once */
double cases_bound(const struct kase *, const char *who);

/* Adds to 'env' what the parts have, to 'varied' the names where they differ.
 */
void cases_env(const struct kase *, struct json *env, struct json *varied);

/* The texts of failed runs, of all parts; caller frees with json_free. */
struct json *cases_errors(const struct kase *);

#endif
