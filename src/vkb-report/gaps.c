#include "gaps.h"
#include "intern.h"
#include "json.h"
#include "model.h"
#include "record.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the only known subject with these keys and more, else NULL. */
static const struct json *
find_fuller(const struct model *m, size_t known, const struct json *subject)
{
	const struct json *found = NULL;

	for (size_t i = 0; i < known; i++) {
		const struct json *other = m->subjects[i]->json;
		const struct json *j = json_first(subject);

		while (j && json_equal(j, json_get(other, json_key(j))))
			j = json_next(j);
		if (j || m->subjects[i]->twin)
			continue;
		if (found || json_len(other) == json_len(subject))
			return NULL;
		found = other;
	}
	return found;
}

static void
add_failed(struct json *to, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "errors"));
	struct json *errors = json_dup(json_get(to, "errors"));

	errors = errors ? errors : json_array();
	for (; j; j = json_next(j))
		json_push(errors, json_dup(j));
	json_set(to, "errors", errors);
	json_set_num(to, "failed",
	    json_get_num(to, "failed", 0) + json_get_num(rec, "failed", 0));
}

/* Adds failures to the fuller subject: a failed run may lack keys of it. */
static void
take_failed_summaries(struct model *m)
{
	struct intern *seen = intern_new();
	size_t known = m->nsubjects;

	for (size_t i = 0; i < m->all_failed.n; i++) {
		struct json *rec = m->all_failed.v[i];
		const struct json *own = json_get(rec, "subject"), *whole;
		struct str key = {0};
		struct cell *c;
		bool again;

		json_canonical(&key, own);
		json_canonical(&key, json_get(rec, "config"));
		again = intern_id(seen, key.s) + 1 < intern_count(seen);
		str_free(&key);
		whole = again ? NULL : find_fuller(m, known, own);
		c = model_add_cell(m,
		    model_add_case(m, json_get(rec, "config")),
		    model_add_subject(m, whole ? whole : own));
		model_keep(&m->others, rec);
		m->duplicates += again;
		if (c->rec && !again)
			add_failed(c->rec, rec);
		else if (!c->rec)
			c->rec = rec;
	}
	intern_free(seen);
}

/* Takes failures from a comparison for cases that have no summary. */
static void
fill_failed(struct model *m, const struct pair *p)
{
	const struct json *j = json_first(json_get(p->rec, "failed"));

	for (; j; j = json_next(j)) {
		const char *side = json_get_str(j, "side");
		bool contender = side && strcmp(side, "contender") == 0;
		struct cell *c;

		if (json_type(j) != JSON_OBJECT ||
		    json_type(json_get(j, "config")) != JSON_OBJECT)
			continue;
		c = model_add_cell(m, model_add_case(m, json_get(j, "config")),
		    contender ? p->contender : p->base);
		if (json_get(c->rec, "failed"))
			continue;
		if (!c->rec) {
			c->rec = json_object();
			model_keep(&m->others, c->rec);
		}
		json_set_num(c->rec, "n", json_get_num(j, "n", 0));
		add_failed(c->rec, j);
	}
}

/* Makes a metric of the values that a delta has of a side. */
static struct json *
make_metric(const struct delta *d, size_t side)
{
	const struct json *values = json_at(json_get(d->rec, "values"), side);
	struct stats_rule rule = {0};
	struct json *one = json_object();
	size_t n;
	double *v = json_numbers(values, &n), lo, hi;

	json_set_num(
	    one, "n", json_num(json_at(json_get(d->rec, "n"), side), NAN));
	json_set_num(one, "median",
	    json_num(json_at(json_get(d->rec, "median"), side), NAN));
	json_set(one, "values", json_dup(values));
	stats_sort(v, n);
	if (stats_ci(&rule, v, n, .95, &lo, &hi))
		json_set(one, "ci95", json_pair(lo, hi));
	free(v);
	return one;
}

/* Makes a cell empty whose runs are those of both sides. */
static void
empty_cell(struct model *m, struct cell *c)
{
	const struct json *env = json_get(c->rec, "env");

	c->split = true;
	for (size_t i = 0; i < c->nseries; i++)
		json_free(c->series[i]);
	for (size_t i = 0; i < c->searches.n; i++)
		json_free(c->searches.v[i]);
	c->nseries = c->searches.n = 0;
	c->rec = json_object();
	json_set(c->rec, "env", json_dup(env));
	json_set(c->rec, "metrics", json_object());
	model_keep(&m->others, c->rec);
}

/* Takes values from a delta for a side that has no summary, or none of its own.
 */
static void
fill_cell(struct model *m, const struct delta *d, size_t side)
{
	struct cell *c =
	    model_add_cell(m, d->kase, side ? d->contender : d->base);
	struct json *metrics;

	if (!c->rec || (d->contender->twin && !c->split))
		empty_cell(m, c);
	metrics = json_get(c->rec, "metrics");
	if (d->metric && !json_get(metrics, d->metric))
		json_set(metrics, d->metric, make_metric(d, side));
}

void
gaps_fill(struct model *m)
{
	take_failed_summaries(m);
	for (size_t i = 0; i < m->ndeltas; i++)
		for (size_t side = 0; side < 2; side++)
			fill_cell(m, &m->deltas[i], side);
	for (size_t i = 0; i < m->npairs; i++)
		fill_failed(m, &m->pairs[i]);
	for (size_t i = 0; i < m->ncells; i++) {
		const struct json *rec = m->cells[i].rec;

		if (record_is(rec, "summary"))
			m->runs += json_get_num(rec, "n", 0);
		m->failed += json_get_num(rec, "failed", 0);
	}
}
