#include "cases.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "names.h"
#include "record.h"
#include "str.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 'summary' is taken. Cases of equal config and subject are one. */
static void
add(struct cases *c, struct json *summary)
{
	struct kase *k;

	c->v = mem_grow(c->v, c->n, &c->cap, sizeof *c->v);
	k = &c->v[c->n++];
	*k = (struct kase){.config = json_get(summary, "config"),
	    .subject = json_get(summary, "subject")};
	k->parts = mem_array(1, sizeof(struct json *));
	k->parts[k->nparts++] = summary;
}

static int
by_place(const void *a, const void *b)
{
	const struct kase *x = a, *y = b;
	int c = strverscmp(x->key, y->key);

	c = c ? c : strcmp(x->key, y->key);
	return c ? c : (x->who > y->who) - (x->who < y->who);
}

static int
by_key(const void *a, const void *b)
{
	const struct kase *x = a, *y = b;
	int c = by_place(a, b);

	/* parts of one case: by their text, so that order does not matter */
	if (!c) {
		char *s = json_print(x->parts[0]), *t = json_print(y->parts[0]);

		c = strcmp(s, t);
		free(s);
		free(t);
	}
	return c;
}

/* Every key of 'few' has the same value in 'many', which has more. */
static bool
part_of(const struct json *few, const struct json *many)
{
	if (json_len(few) >= json_len(many))
		return false;
	for (const struct json *j = json_first(few); j; j = json_next(j))
		if (!json_equal(j, json_get(many, json_key(j))))
			return false;
	return true;
}

static size_t
subject_of(struct cases *c, const struct json *subject)
{
	for (size_t i = 0; i < c->nsubjects; i++)
		if (json_equal(c->subjects[i], subject))
			return i;
	c->subjects =
	    mem_resize(c->subjects, c->nsubjects + 1, sizeof(struct json *));
	c->subjects[c->nsubjects] = subject;
	return c->nsubjects++;
}

static int
by_subject(const void *a, const void *b)
{
	struct str s = {0}, t = {0};
	int c;

	record_room(&s, *(const struct json *const *)a);
	record_room(&t, *(const struct json *const *)b);
	c = strcmp(s.s, t.s);
	str_free(&s);
	str_free(&t);
	return c;
}

/*
 * A record of a failed case may know less of its subject (absent is unknown):
 * it is of the only other subject that it can be of.
 */
static void
subjects(struct cases *c)
{
	size_t kept = 0, *into;

	for (size_t i = 0; i < c->n; i++)
		subject_of(c, c->v[i].subject);
	if (c->nsubjects)
		qsort(
		    c->subjects, c->nsubjects, sizeof *c->subjects, by_subject);
	into = mem_array(c->nsubjects + 1, sizeof *into);
	for (size_t i = 0; i < c->nsubjects; i++) {
		size_t found = 0;

		into[i] = i;
		for (size_t k = 0; k < c->nsubjects; k++)
			if (part_of(c->subjects[i], c->subjects[k])) {
				into[i] = k;
				found++;
			}
		into[i] = found == 1 ? into[i] : i;
	}
	for (size_t i = 0; i < c->n; i++) {
		size_t who = subject_of(c, c->v[i].subject);

		for (size_t hops = 0; into[who] != who && hops < 8; hops++)
			who = into[who];
		c->v[i].who = who;
	}
	/* Close the gaps. */
	for (size_t i = 0; i < c->nsubjects; i++) {
		bool used = false;

		for (size_t k = 0; k < c->n; k++)
			if (c->v[k].who == i) {
				c->v[k].who = kept;
				used = true;
			}
		if (used)
			c->subjects[kept++] = c->subjects[i];
	}
	c->nsubjects = kept;
	free(into);
}

/* One more part; of one session and equal, it is one measurement given twice.
 */
static void
join(struct kase *k, struct json *part)
{
	size_t end = k->nparts + k->nagain;
	bool again = json_get(part, "sessions") &&
	    json_equal(part, k->parts[k->nparts - 1]);

	k->parts = mem_resize(k->parts, end + 1, sizeof *k->parts);
	k->parts[end] = part;
	if (again) {
		k->nagain++;
		return;
	}
	k->parts[end] = k->parts[k->nparts];
	k->parts[k->nparts++] = part;
}

static void
unite(struct cases *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct str key = {0};

		record_room(&key, c->v[i].config);
		c->v[i].key = str_take(&key);
	}
	if (c->n)
		qsort(c->v, c->n, sizeof *c->v, by_key);
	for (size_t i = 0; i < c->n; i++) {
		struct kase *k = &c->v[i], *last = n ? &c->v[n - 1] : NULL;

		if (!last || last->who != k->who ||
		    strcmp(last->key, k->key) != 0) {
			c->v[n++] = *k;
			continue;
		}
		join(last, k->parts[0]);
		free(k->parts);
		free(k->key);
	}
	c->n = n;
}

static void
note(struct cases *c, const struct json *subject)
{
	struct str s = {0};

	record_room(&s, subject);
	names_id(c->rooms, s.s);
	str_free(&s);
}

int
cases_read(struct cases *c, const char *const *files, size_t n, bool hists)
{
	struct jsonl *in = jsonl_open(files, n);
	struct summary *s = summary_new();
	struct json *rec;
	int rc = 0, got;

	*c = (struct cases){.rooms = names_new()};
	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		note(c, json_get(rec, "subject"));
		if (!hists)
			json_del(rec, "hist");
		if (record_is(rec, "summary")) {
			add(c, rec);
		} else {
			if (record_is(rec, "run") &&
			    summary_add(s, rec, jsonl_where(in)) < 0)
				rc = -1;
			json_free(rec);
		}
	}
	for (size_t i = 0; i < summary_count(s); i++)
		if ((rec = summary_record(s, i)))
			add(c, rec);
		else
			rc = -1;
	summary_free(s);
	jsonl_close(in);
	subjects(c);
	unite(c);
	return rc;
}

void
cases_free(struct cases *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = 0; k < c->v[i].nparts + c->v[i].nagain; k++)
			json_free(c->v[i].parts[k]);
		free(c->v[i].parts);
		free(c->v[i].key);
	}
	free(c->v);
	free(c->subjects);
	names_free(c->rooms);
	*c = (struct cases){0};
}

char *
cases_subject_name(const struct json *subject)
{
	char *name = record_subject_name(subject), *both;
	const char *commit = json_get_str(subject, "module_commit");

	if (!commit)
		commit = json_get_str(subject, "commit");
	if (!commit || strncmp(commit, name, 8) == 0)
		return name;
	both = mem_printf("%s (%.8s)", name, commit);
	free(name);
	return both;
}

static int
list(const struct cases *c, const char *why)
{
	struct str s = {0};

	for (size_t i = 0; i < c->nsubjects; i++) {
		char *name = cases_subject_name(c->subjects[i]);

		str_printf(&s, "%s'%s'", i ? ", " : "", name);
		free(name);
	}
	err_say("%s; the subjects are: %s", why, s.s ? s.s : "none");
	str_free(&s);
	return -1;
}

static bool
means(const struct json *subject, const char *name)
{
	static const char *const whole[] = {"label", "ref", "server_version"};
	static const char *const starts[] = {"commit", "module_commit"};
	const char *s;

	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
		s = json_get_str(subject, whole[i]);
		if (s && strcmp(s, name) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		s = json_get_str(subject, starts[i]);
		if (s && strlen(name) >= 4 && str_starts(s, name))
			return true;
	}
	return false;
}

int
cases_find(const struct cases *c, const char *name)
{
	int found = -1;
	char *why;

	for (size_t i = 0; i < c->nsubjects; i++) {
		if (!means(c->subjects[i], name))
			continue;
		if (found >= 0) {
			why = mem_printf("'%s' means several subjects", name);
			list(c, why);
			free(why);
			return -1;
		}
		found = (int)i;
	}
	if (found >= 0)
		return found;
	why = mem_printf("no subject is '%s'", name);
	list(c, why);
	free(why);
	return -1;
}

int
cases_only(const struct cases *c, const char *what)
{
	char *why;

	if (c->nsubjects == 1)
		return 0;
	why = mem_printf("%s: %s", what,
	    c->nsubjects ? "several subjects: --baseline chooses one"
			 : "no runs and no summaries");
	if (c->nsubjects)
		list(c, why);
	else
		err_say("%s", why);
	free(why);
	return -1;
}

size_t
cases_came(const struct cases *c, size_t who)
{
	struct str s = {0};
	size_t place;

	record_room(&s, c->subjects[who]);
	place = names_id(c->rooms, s.s);
	str_free(&s);
	return place;
}

const struct kase *
cases_get(const struct cases *c, const char *key, size_t who)
{
	struct kase k = {.key = (char *)(size_t)key, .who = who};

	return c->n ? bsearch(&k, c->v, c->n, sizeof k, by_place) : NULL;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double *
cases_looks(const struct kase *k, size_t *n)
{
	size_t all = 0, kept = 0;
	double *v;

	for (size_t i = 0; i < k->nparts; i++)
		all += json_len(json_get(k->parts[i], "looks"));
	v = mem_array(all + 1, sizeof *v);
	all = 0;
	for (size_t i = 0; i < k->nparts; i++)
		for (const struct json *j =
			 json_first(json_get(k->parts[i], "looks"));
		     j; j = json_next(j))
			if (json_num(j, 0) > 0)
				v[all++] = json_num(j, 0);
	if (all)
		qsort(v, all, sizeof *v, by_value);
	for (size_t i = 0; i < all; i++)
		if (!kept || v[i] > v[kept - 1])
			v[kept++] = v[i];
	*n = kept;
	return v;
}

double
cases_sum(const struct kase *k, const char *key)
{
	double sum = 0;

	for (size_t i = 0; i < k->nparts; i++)
		sum += json_get_num(k->parts[i], key, 0);
	return sum;
}

double
cases_doubled(const struct kase *k)
{
	double sum = cases_sum(k, "doubled");

	for (size_t i = 0; i < k->nagain; i++)
		sum += json_get_num(k->parts[k->nparts + i], "n", 0);
	return sum;
}

void
cases_env(const struct kase *k, struct json *env, struct json *varied)
{
	const struct json *j, *before;

	for (size_t i = 0; i < k->nparts; i++) {
		j = json_first(json_get(k->parts[i], "env"));
		for (; j; j = json_next(j)) {
			before = json_get(env, json_key(j));
			if (!before)
				json_set(env, json_key(j), json_dup(j));
			else if (!json_equal(before, j))
				json_set_bool(varied, json_key(j), true);
		}
		j = json_first(json_get(k->parts[i], "env_varied"));
		for (; j; j = json_next(j))
			if (json_str(j))
				json_set_bool(varied, json_str(j), true);
	}
}

struct json *
cases_errors(const struct kase *k)
{
	struct json *all = json_array();

	for (size_t i = 0; i < k->nparts; i++)
		for (const struct json *j =
			 json_first(json_get(k->parts[i], "errors"));
		     j; j = json_next(j))
			json_push(all, json_dup(j));
	return all;
}

double
cases_bound(const struct kase *k, const char *who)
{
	double sum = 0;

	for (size_t i = 0; i < k->nparts; i++)
		sum += json_get_num(json_get(k->parts[i], "bound"), who, 0);
	return sum;
}

/* The texts of an array, NULL where one is none; caller frees the array. */
static const char **
texts_of(const struct json *array, size_t *n)
{
	const char **v = mem_array(json_len(array), sizeof *v);

	*n = 0;
	for (const struct json *j = json_first(array); j; j = json_next(j))
		v[(*n)++] = json_str(j);
	return v;
}

/* 'values' are one for each run that has the metric 'm'. */
static void
add_values(struct sample *s, const struct json *part, const struct json *values,
    const struct json *m)
{
	size_t n, nblocks, nof, nnames;
	double *v = json_numbers(values, &n);
	double *blocks = json_numbers(json_get(m, "blocks"), &nblocks);
	double *of = json_numbers(json_get(m, "sessions"), &nof);
	const char **names = texts_of(json_get(part, "sessions"), &nnames);

	s->v = mem_resize(s->v, s->n + n + 1, sizeof *s->v);
	s->rounds = mem_resize(s->rounds, s->n + n + 1, sizeof *s->rounds);
	for (size_t i = 0; i < n; i++) {
		double block = i < nblocks ? blocks[i] : NAN;
		double at = i < nof && !isnan(of[i]) ? of[i] : 0;
		bool known = !isnan(block) && at >= 0 && at < (double)nnames;

		if (!isfinite(v[i]))
			continue;
		s->v[s->n] = v[i];
		s->rounds[s->n++] =
		    (struct round){known ? names[(size_t)at] : NULL, block};
	}
	free(v);
	free(blocks);
	free(of);
	free(names);
}

struct sample
cases_sample(const struct kase *k, const char *metric)
{
	struct sample s = {0};

	for (size_t i = 0; i < k->nparts; i++) {
		const struct json *part = k->parts[i];
		const struct json *m =
		    json_get(json_get(part, "metrics"), metric);

		add_values(&s, part, json_get(m, "values"), m);
	}
	return s;
}

/* A metric that every run has says of which round each run is. */
static const struct json *
of_all_runs(const struct json *part, size_t n)
{
	const struct json *m = json_first(json_get(part, "metrics"));

	while (m && json_len(json_get(m, "values")) != n)
		m = json_next(m);
	return m;
}

struct sample
cases_quantile(const struct kase *k, const char *hist, const char *percentile)
{
	struct sample s = {0};

	for (size_t i = 0; i < k->nparts; i++) {
		const struct json *part = k->parts[i];
		const struct json *v = json_get(
		    json_get(json_get(part, "quantiles"), hist), percentile);

		add_values(&s, part, v, of_all_runs(part, json_len(v)));
	}
	return s;
}

void
cases_sample_free(struct sample *s)
{
	free(s->v);
	free(s->rounds);
	*s = (struct sample){0};
}
