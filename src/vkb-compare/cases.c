#include "cases.h"
#include "caseset.h"
#include "functions.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "part.h"
#include "record.h"
#include "stats.h"
#include "str.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds a case of one part, which it takes; merge_cases joins equal cases. */
static void
add_case(struct cases *c, struct part part)
{
	struct kase *k;

	c->v = mem_grow(c->v, c->n, &c->cap, sizeof *c->v);
	k = &c->v[c->n++];
	*k = (struct kase){.configs = c->configs,
	    .subject = caseset_tree(c->met, part.subject),
	    .key = caseset_text(c->configs, part.config),
	    .who = part.subject};
	k->parts = mem_array(1, sizeof part);
	k->parts[k->nparts++] = part;
}

int
cases_compare_keys(const char *a, const char *b)
{
	int c = a == b ? 0 : strverscmp(a, b);

	return c || a == b ? c : strcmp(a, b);
}

static int
compare_cases(const void *a, const void *b)
{
	const struct kase *x = a, *y = b;
	int c = cases_compare_keys(x->key, y->key);

	return c ? c : (x->who > y->who) - (x->who < y->who);
}

static int
compare_cases_and_parts(const void *a, const void *b)
{
	const struct kase *x = a, *y = b;
	int c = compare_cases(a, b);

	/* makes the result independent of the order of the input */
	return c ? c : part_compare(x->parts, y->parts);
}

static int
compare_subjects(const void *a, const void *b, void *arg)
{
	return strcmp(caseset_text(arg, *(const size_t *)a),
	    caseset_text(arg, *(const size_t *)b));
}

/* Lists the subjects of the cases by their texts; of a case, 'who' is the
 * number of its subject, and becomes its index. */
static void
list_subjects(struct cases *c)
{
	size_t n = caseset_count(c->met), *at = mem_array(n + 1, sizeof *at);

	for (size_t i = 0; i < c->n; i++)
		at[c->v[i].who] = 1;
	c->subjects = mem_array(n + 1, sizeof(struct json *));
	c->arrival = mem_array(n + 1, sizeof *c->arrival);
	for (size_t i = 0; i < n; i++)
		if (at[i])
			c->arrival[c->nsubjects++] = i;
	qsort_r(c->arrival, c->nsubjects, sizeof *c->arrival, compare_subjects,
	    c->met);
	for (size_t i = 0; i < c->nsubjects; i++) {
		c->subjects[i] = caseset_tree(c->met, c->arrival[i]);
		at[c->arrival[i]] = i;
	}
	for (size_t i = 0; i < c->n; i++)
		c->v[i].who = at[c->v[i].who];
	free(at);
}

/*
 * Sets the subject of each case. The record of a failed case may lack keys of
 * its subject; if exactly one other subject fits, it is of that one.
 */
static void
resolve_subjects(struct cases *c)
{
	size_t n = caseset_count(c->met),
	       *into = mem_array(n + 1, sizeof *into);
	const struct json **known = mem_array(n + 1, sizeof *known);

	for (size_t i = 0; i < c->n; i++)
		known[c->v[i].who] = c->v[i].subject;
	for (size_t i = 0; i < n; i++) {
		size_t fuller = caseset_find_fuller(known, n, known[i]);

		into[i] = known[i] && fuller < n ? fuller : i;
	}
	for (size_t i = 0; i < c->n; i++) {
		size_t *who = &c->v[i].who;

		while (into[*who] != *who)
			*who = into[*who];
	}
	list_subjects(c);
	free(known);
	free(into);
}

/* Adds a part to a case and takes it. A part equal to the last one, with known
 * sessions, is the same measurement given twice: it is kept, not counted. */
static void
add_part(struct kase *k, struct part part)
{
	const struct part *last = &k->parts[k->nparts - 1];
	size_t end = k->nparts + k->nagain;
	bool again =
	    json_get(part.rest, "sessions") && part_compare(&part, last) == 0;

	k->parts = mem_resize(k->parts, end + 1, sizeof *k->parts);
	k->parts[end] = part;
	if (again) {
		k->nagain++;
		return;
	}
	k->parts[end] = k->parts[k->nparts];
	k->parts[k->nparts++] = part;
}

/* Summaries are written in this order. */
static bool
are_sorted(const struct cases *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (compare_cases_and_parts(&c->v[i - 1], &c->v[i]) > 0)
			return false;
	return true;
}

static void
merge_cases(struct cases *c)
{
	size_t n = 0;

	if (!are_sorted(c))
		qsort(c->v, c->n, sizeof *c->v, compare_cases_and_parts);
	for (size_t i = 0; i < c->n; i++) {
		struct kase *k = &c->v[i], *last = n ? &c->v[n - 1] : NULL;

		if (!last || last->who != k->who || last->key != k->key) {
			c->v[n++] = *k;
			continue;
		}
		add_part(last, k->parts[0]);
		free(k->parts);
	}
	c->n = n;
}

/* Adds a build as a case without values, with the subject of its later runs. */
static void
add_build(struct cases *c, const struct json *build)
{
	struct part part = {.config = caseset_add(c->configs, "{}", 2)};
	struct json *subject = json_dup(json_get(build, "subject"));

	json_set_str(subject, "server_version", json_get_str(build, "version"));
	json_set_str(
	    subject, "binary_sha256", json_get_str(build, "binary_sha256"));
	part.subject = caseset_add_value(c->met, subject);
	part.rest = caseset_tree(c->configs, part.config);
	add_case(c, part);
	json_free(subject);
}

/* Adds a line that summary_line left. Returns -1 on error, after reporting it.
 */
static int
add_record(struct cases *c, struct jsonl *in, const char *text, size_t n,
    struct summary *runs, enum cases_of of)
{
	struct part part;
	struct json *rec;
	int rc = 0;

	if (part_read(c->reader, &part, text, n)) {
		add_case(c, part);
		return 0;
	}
	if (record_tree(in, &rec) < 0)
		return -1;
	if (record_is(rec, "run"))
		rc = summary_add(runs, rec, jsonl_where(in));
	else if (of == CASES_SUBJECTS && record_is(rec, "build") &&
	    strcmp(json_get_str(rec, "status"), "ok") == 0)
		add_build(c, rec);
	else {
		if (record_is(rec, "profile"))
			rc = functions_add(c->functions, rec, jsonl_where(in));
		if (json_get(rec, "subject"))
			caseset_add_value(c->met, json_get(rec, "subject"));
	}
	json_free(rec);
	return rc;
}

int
cases_read(struct cases *c, const struct cases *with, const char *const *files,
    size_t n, enum cases_of of)
{
	struct jsonl *in = jsonl_open(files, n);
	struct summary *runs;
	size_t len;
	const char *text;
	int rc = 0, got;

	*c = (struct cases){.configs = with ? with->configs : caseset_new(),
	    .met = with ? with->met : caseset_new(),
	    .shares = with,
	    .functions = functions_new()};
	c->reader = with
	    ? with->reader
	    : part_reader_new(c->configs, c->met, of == CASES_HISTS);
	runs = summary_new(c->met, c->configs);
	if (of != CASES_HISTS)
		summary_ignore_hists(runs);
	do {
		got = summary_line(runs, in, &text, &len);
		if (got < 0 ||
		    (got > 0 && add_record(c, in, text, len, runs, of) < 0))
			rc = -1;
	} while (got != 0);
	for (size_t i = 0; i < summary_count(runs); i++)
		add_case(c, part_take(c->reader, runs, i));
	summary_free(runs);
	jsonl_close(in);
	resolve_subjects(c);
	merge_cases(c);
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 1; k < c->v[i].nparts; k++)
			part_take_metrics(
			    c->reader, &c->v[i].parts[0], &c->v[i].parts[k]);
	return rc;
}

void
cases_free(struct cases *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = 0; k < c->v[i].nparts + c->v[i].nagain; k++)
			part_free(&c->v[i].parts[k]);
		free(c->v[i].parts);
	}
	free(c->v);
	free(c->subjects);
	free(c->arrival);
	if (!c->shares) {
		caseset_free(c->configs);
		caseset_free(c->met);
		part_reader_free(c->reader);
	}
	functions_free(c->functions);
	*c = (struct cases){0};
}

const struct kase *
cases_get(const struct cases *c, const char *key, size_t who)
{
	struct kase k = {.key = key, .who = who};

	return c->n ? bsearch(&k, c->v, c->n, sizeof k, compare_cases) : NULL;
}

const struct json *
cases_config(const struct kase *k)
{
	return k->config ? k->config
			 : caseset_tree(k->configs, k->parts->config);
}

void
cases_forget_configs(const struct cases *c)
{
	caseset_forget_trees(c->configs);
}

double
cases_sum(const struct kase *k, const char *key)
{
	double sum = 0;

	for (size_t i = 0; i < k->nparts; i++)
		sum += json_get_num(k->parts[i].rest, key, 0);
	return sum;
}

const struct sample *
cases_runs(const struct kase *k, const char *metric)
{
	const struct part_metric *m = part_metric(k->parts, metric);

	return m ? &m->runs : &sample_none;
}

bool
cases_have_metric(const struct kase *k, const char *name)
{
	return part_metric(k->parts, name) != NULL;
}

bool
cases_are_counted(const struct kase *k, const char *metric)
{
	const struct part_metric *m = part_metric(k->parts, metric);

	return m && m->counted;
}

double
cases_seconds(const struct kase *k)
{
	const struct sample *s = cases_runs(k, "elapsed_s");

	return s->n ? stats_mean(s->v, s->n)
		    : json_get_num(cases_config(k), "duration_s", NAN);
}

double
cases_doubled(const struct kase *k)
{
	double sum = cases_sum(k, "doubled");

	for (size_t i = 0; i < k->nagain; i++)
		sum += json_get_num(k->parts[k->nparts + i].rest, "n", 0);
	return sum;
}

void
cases_env(const struct kase *k, struct json *env, struct json *varied)
{
	const struct json *j, *before;

	for (size_t i = 0; i < k->nparts; i++) {
		j = json_first(json_get(k->parts[i].rest, "env"));
		for (; j; j = json_next(j)) {
			before = json_get(env, json_key(j));
			if (!before)
				json_set(env, json_key(j), json_dup(j));
			else if (!json_equal(before, j))
				json_set_bool(varied, json_key(j), true);
		}
		j = json_first(json_get(k->parts[i].rest, "env_varied"));
		for (; j; j = json_next(j))
			if (json_str(j))
				json_set_bool(varied, json_str(j), true);
	}
}

char *
cases_fact(const struct kase *k, const char *key)
{
	struct json *env = json_object(), *varied = json_object();
	char *fact = NULL;

	cases_env(k, env, varied);
	if (!json_get(varied, key))
		fact = mem_str(json_get_str(env, key));
	json_free(env);
	json_free(varied);
	return fact;
}

struct json *
cases_errors(const struct kase *k)
{
	struct json *all = json_array();

	for (size_t i = 0; i < k->nparts; i++)
		for (const struct json *j =
			 json_first(json_get(k->parts[i].rest, "errors"));
		     j; j = json_next(j))
			json_push(all, json_dup(j));
	return all;
}

double
cases_client_bound(const struct kase *k)
{
	double sum = 0;

	for (size_t i = 0; i < k->nparts; i++)
		sum += json_get_num(
		    json_get(k->parts[i].rest, "bound"), "client", 0);
	return sum;
}
