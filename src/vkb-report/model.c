#include "model.h"
#include "casename.h"
#include "caseset.h"
#include "intern.h"
#include "err.h"
#include "group.h"
#include "hashset.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "metric.h"
#include "record.h"
#include "stats.h"
#include "str.h"
#include "summary.h"
#include "vkb-compare/judge.h"
#include "vkb-compare/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- interned subjects, cases and cells */

/* Return that of the model, which is added unless it is there. */
static struct subject *
add_subject(struct model *m, const struct json *json)
{
	size_t id = caseset_add_value(m->subject_set, json);
	struct subject *s;

	if (id < m->nsubjects)
		return m->subjects[id];
	s = *MEM_ADD(m->subjects, m->nsubjects, m->scap) = mem_new(sizeof *s);
	s->json = json_dup(json);
	s->time = record_subject_time(s->json);
	return s;
}

/* Adds the contender of a comparison of equal subjects: a subject of its own.
 */
static struct subject *
add_twin(struct model *m, const struct subject *base)
{
	struct json *json = json_dup(base->json);
	struct subject *s;

	json_set_str(json, "side", "contender");
	s = add_subject(m, json);
	s->twin = base;
	json_free(json);
	return s;
}

/* Adds the pair of subjects of a delta or comparison record. */
static struct pair *
add_pair(struct model *m, const struct json *rec)
{
	struct subject *base = add_subject(m, json_get(rec, "baseline"));
	struct subject *other = add_subject(m, json_get(rec, "contender"));

	other = other == base ? add_twin(m, base) : other;
	for (size_t i = m->npairs; i-- > 0;)
		if (m->pairs[i].base == base && m->pairs[i].contender == other)
			return &m->pairs[i];
	base->baseline = true;
	other->contender = true;
	m->pairs = mem_grow(m->pairs, m->npairs, &m->pcap, sizeof *m->pairs);
	m->pairs[m->npairs] = (struct pair){base, other, .c = NULL};
	return &m->pairs[m->npairs++];
}

static struct model_case *
add_case(struct model *m, const struct json *config)
{
	size_t id = caseset_add_value(m->config_set, config);
	struct model_case *k;

	if (id < m->ncases)
		return m->cases[id];
	k = *MEM_ADD(m->cases, m->ncases, m->kcap) = mem_new(sizeof *k);
	k->config = json_dup(config);
	return k;
}

static struct cell *
add_cell(struct model *m, struct model_case *kase, struct subject *subject)
{
	size_t id = intern_pair(m->cell_keys, (size_t)kase, (size_t)subject);

	if (id == m->ncells) {
		*MEM_ADD(m->cells, m->ncells, m->ccap) =
		    (struct cell){.kase = kase, .subject = subject};
	}
	return &m->cells[id];
}

/* Adds the cell of the record's case and subject. */
static struct cell *
add_cell_of(struct model *m, const struct json *rec)
{
	return add_cell(m, add_case(m, json_get(rec, "config")),
	    add_subject(m, json_get(rec, "subject")));
}

/* Adds a record that the model frees. */
static void
keep_record(struct list *l, struct json *rec)
{
	*MEM_ADD(l->v, l->n, l->cap) = rec;
}

/* --- Names and order of subjects, cases and results: most notable first, a
 * baseline before its contender, the rest by time. */

static double
change_size(const struct model_result *r)
{
	double size = fabs(log(r->row->facts.ratio));

	return isnan(size) ? 0 : size;
}

/* Orders what needs most attention first, then by the size of the change. */
static int
compare_changes(const struct model_result *x, const struct model_result *y)
{
	double a = change_size(x), b = change_size(y);
	size_t p = report_rank(x->row), q = report_rank(y->row);

	if (p != q)
		return p < q ? -1 : 1;
	return a > b ? -1 : a < b;
}

static int
compare_texts(const char *s, const char *t)
{
	int c = strverscmp(s, t); /* so that 64 precedes 4096 */

	return c ? c : strcmp(s, t);
}

static int
compare_places(const struct subject *x, const struct subject *y)
{
	return (x->place > y->place) - (x->place < y->place);
}

static int
compare_results(const void *a, const void *b)
{
	const struct model_result *x = a, *y = b;
	int c = compare_changes(x, y);

	c = c ? c : strcmp(x->row->name, y->row->name);
	c = c ? c : compare_texts(x->kase->name, y->kase->name);
	return c ? c : compare_places(x->pair->contender, y->pair->contender);
}

static int
compare_cases(const void *a, const void *b)
{
	const struct model_case *x = *(struct model_case *const *)a;
	const struct model_case *y = *(struct model_case *const *)b;
	int c = 0;

	if (!x->nresults != !y->nresults)
		return x->nresults ? -1 : 1;
	if (x->nresults)
		c = compare_changes(x->results[0], y->results[0]);
	return c ? c : compare_texts(x->name, y->name);
}

int
model_compare_times(const char *s, const char *t)
{
	return s && t ? strcmp(s, t) : !s - !t;
}

static int
compare_subjects(const void *a, const void *b)
{
	const struct subject *x = *(struct subject *const *)a;
	const struct subject *y = *(struct subject *const *)b;
	int c = model_compare_times(x->time, y->time);

	if (x->baseline != y->baseline)
		return x->baseline ? -1 : 1;
	return c ? c : compare_texts(x->key, y->key);
}

static int
compare_cells(const void *a, const void *b)
{
	const struct cell *x = *(struct cell *const *)a;
	const struct cell *y = *(struct cell *const *)b;

	return compare_places(x->subject, y->subject);
}

/* With many subjects, only the first and the last ones get a colour. */
static size_t
choose_look(size_t place, size_t n)
{
	size_t skip = n > MODEL_LOOKS ? n - MODEL_LOOKS : 0;

	return !place ? 0 : place > skip ? place - skip : MODEL_LOOKS;
}

/* Has no other subject this name? */
static bool
is_only_name(const struct model *m, const struct subject *of, const char *name)
{
	for (size_t i = 0; i < m->nsubjects; i++) {
		char *other = record_subject_name(m->subjects[i]->json);
		bool same = m->subjects[i] != of && strcmp(other, name) == 0;

		free(other);
		if (same)
			return false;
	}
	return true;
}

/* Sets the names of few subjects for plots, which have little room. */
static void
shorten_names(struct model *m)
{
	for (size_t i = 0; i < m->nsubjects; i++) {
		struct subject *s = m->subjects[i];
		char *brief = record_subject_name(s->json);

		if (m->nsubjects > MODEL_LOOKS || !is_only_name(m, s, brief)) {
			free(brief);
			brief = mem_str(s->name);
		}
		s->brief = brief;
	}
}

/* Names subjects as vkb-compare does, with their commit. Makes the names of
 * equal ones unique by the side, then a number. */
static void
name_subjects(struct model *m)
{
	struct intern *seen = intern_new();

	for (size_t i = 0; i < m->nsubjects; i++) {
		struct subject *s = m->ordered[i];
		char *name = record_subject_title(s->json), *was = name;

		if (intern_id(seen, name) != i && (s->twin || s->contender)) {
			name = mem_printf("%s (contender)", was);
			free(was);
		}
		while (intern_id(seen, name) != i) {
			was = name;
			name = mem_printf("%s (%zu)", was, i + 1);
			free(was);
		}
		s->name = name;
		s->place = i;
		s->look = choose_look(i, m->nsubjects);
	}
	intern_free(seen);
}

static void
name_cases(struct model *m)
{
	const struct json **configs = mem_array(m->ncases + 1, sizeof *configs);
	struct casename *names;

	for (size_t i = 0; i < m->ncases; i++)
		configs[i] = m->cases[i]->config;
	names = casename_new(configs, m->ncases);
	for (size_t i = 0; i < m->ncases; i++)
		m->cases[i]->name = casename_of(names, configs[i]);
	m->common = casename_common(names);
	casename_free(names);
	free(configs);
}

/* Requires a model with all its cells. */
static void
order_model(struct model *m)
{
	name_cases(m);
	m->ordered = mem_array(m->nsubjects + 1, sizeof *m->ordered);
	for (size_t i = 0; i < m->nsubjects; i++) {
		m->ordered[i] = m->subjects[i];
		m->ordered[i]->key = caseset_text(m->subject_set, i);
	}
	mem_sort(
	    m->ordered, m->nsubjects, sizeof(*m->ordered), compare_subjects);
	name_subjects(m);
	shorten_names(m);
	mem_sort(m->results, m->nresults, sizeof *m->results, compare_results);
	for (size_t i = 0; i < m->nresults; i++) {
		struct model_case *k = m->results[i].kase;

		*MEM_ADD(k->results, k->nresults, k->rcap) = &m->results[i];
	}
	for (size_t i = 0; i < m->ncells; i++) {
		struct model_case *k = m->cells[i].kase;

		*MEM_ADD(k->cells, k->ncells, k->cap) = &m->cells[i];
	}
	m->order = mem_array(m->ncases + 1, sizeof *m->order);
	for (size_t i = 0; i < m->ncases; i++) {
		struct model_case *k = m->order[i] = m->cases[i];

		mem_sort(k->cells, k->ncells, sizeof *k->cells, compare_cells);
	}
	mem_sort(m->order, m->ncases, sizeof *m->order, compare_cases);
	for (size_t i = 0; i < m->ncases; i++)
		m->order[i]->place = i;
}

/* --- What a model takes from its other records where a case of a subject has
 * no summary: failed runs, and the values of results. */

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
	size_t n = m->nsubjects;
	const struct json **known = mem_array(n + 1, sizeof *known);

	for (size_t i = 0; i < n; i++)
		known[i] = m->subjects[i]->twin ? NULL : m->subjects[i]->json;
	for (size_t i = 0; i < m->all_failed.n; i++) {
		struct json *rec = m->all_failed.v[i];
		const struct json *own = json_get(rec, "subject");
		size_t whole = n;
		struct str key = {0};
		struct cell *c;
		bool again;

		json_canonical(&key, own);
		json_canonical(&key, json_get(rec, "config"));
		again = intern_id(seen, key.s) + 1 < intern_count(seen);
		str_free(&key);
		if (!again && caseset_find(m->subject_set, own) >= n)
			whole = caseset_find_fuller(known, n, own);
		c = add_cell(m, add_case(m, json_get(rec, "config")),
		    whole < n ? m->subjects[whole] : add_subject(m, own));
		keep_record(&m->others, rec);
		m->duplicates += again;
		if (c->rec && !again)
			add_failed(c->rec, rec);
		else if (!c->rec)
			c->rec = rec;
	}
	intern_free(seen);
	free(known);
}

/* Takes failures from a comparison for cases that have no summary. */
static void
fill_failed(struct model *m, const struct pair *p)
{
	const struct json *j = json_first(json_get(p->c->record, "failed"));

	for (; j; j = json_next(j)) {
		const char *side = json_get_str(j, "side");
		bool contender = side && strcmp(side, "contender") == 0;
		struct cell *c;

		if (json_type(j) != JSON_OBJECT ||
		    json_type(json_get(j, "config")) != JSON_OBJECT)
			continue;
		c = add_cell(m, add_case(m, json_get(j, "config")),
		    contender ? p->contender : p->base);
		if (json_get(c->rec, "failed"))
			continue;
		if (!c->rec) {
			c->rec = json_object();
			keep_record(&m->others, c->rec);
		}
		json_set_num(c->rec, "n", json_get_num(j, "n", 0));
		add_failed(c->rec, j);
	}
}

/* Sets the values, which it sorts, and the interval of their median. */
static void
add_values(struct json *metric, double *v, size_t n)
{
	struct stats_rule rule = {0};
	struct json *values = json_array();
	double lo, hi;

	for (size_t i = 0; i < n; i++)
		json_push_num(values, v[i]);
	json_set(metric, "values", values);
	stats_sort(v, n);
	if (stats_ci(&rule, v, n, .95, &lo, &hi))
		json_set(metric, "ci95", json_pair(lo, hi));
}

/* Makes a metric of the values that a row has of a side. */
static struct json *
make_metric(const struct row *r, size_t side)
{
	const struct sample *runs = r->used[side];
	struct json *one = json_object();
	double *v = mem_array(runs->n + 1, sizeof *v);

	memcpy(v, runs->v, runs->n * sizeof *v);
	json_set_num(one, "n", (double)(side ? r->facts.n : r->facts.m));
	json_set_num(one, "median", r->facts.median[side]);
	add_values(one, v, runs->n);
	free(v);
	return one;
}

/* Adds the values of the metrics of another summary of the same cell. Where one
 * of both has no values, as a brief one, that of more runs is kept. */
static void
pool_metrics(struct json *to, const struct json *from)
{
	for (const struct json *j = json_first(from); j; j = json_next(j)) {
		size_t n, more;
		struct json *had = json_get(to, json_key(j));
		double *v = json_numbers(json_get(had, "values"), &n);
		double *w = json_numbers(json_get(j, "values"), &more), mean;
		struct json *one;

		v = mem_resize(v, n + more + 1, sizeof *v);
		memcpy(v + n, w, more * sizeof *w);
		free(w);
		if (!more || (had && !n)) {
			if (json_get_num(j, "n", 0) > json_get_num(had, "n", 0))
				json_set(to, json_key(j), json_dup(j));
			free(v);
			continue;
		}
		n += more;
		mean = fabs(stats_mean(v, n));
		one = json_object();
		json_set_num(one, "cv_percent", 100 * stats_sd(v, n) / mean);
		add_values(one, v, n);
		json_set_num(one, "n", (double)n);
		json_set_num(one, "median", stats_median(v, n));
		json_set_num(one, "min", v[0]);
		json_set_num(one, "max", v[n - 1]);
		json_set(to, json_key(j), one);
		free(v);
	}
}

/* Adds what the runs of another summary have: the percentiles of each. One that
 * these runs lack is no longer known of all. */
static void
pool_quantiles(struct json *to, const struct json *from)
{
	for (const struct json *h = json_first(from); h; h = json_next(h)) {
		struct json *of = json_get(to, json_key(h)), *all, *next;

		for (all = json_first(of); all; all = next) {
			const struct json *q = json_get(h, json_key(all));

			next = json_next(all);
			for (const struct json *v = json_first(q); v;
			     v = json_next(v))
				json_push(all, json_dup(v));
			if (!q)
				json_del(of, json_key(all));
		}
	}
}

/* Merges the histograms of both. Returns -1, after reporting it, if one cannot
 * be read. */
static int
pool_hists(struct json *to, const struct json *from)
{
	const struct json *of[] = {json_get(to, "hist"), from};
	struct group_hists all = {0};
	int rc = 0;

	for (size_t i = 0; i < 2; i++)
		for (const struct json *j = json_first(of[i]); j;
		     j = json_next(j)) {
			const char *text = json_str(j);
			struct hist *h = group_decode(text,
			    text ? strlen(text) : 0, json_key(j), "summary");

			if (h)
				group_add_hist(&all, json_key(j), h);
			else
				rc = -1;
		}
	summary_add_hists(&all, to);
	group_free_hists(&all);
	return rc;
}

/* Notes the settings of another environment that differ. */
static void
pool_env(struct json *to, const struct json *from)
{
	const struct json *env = json_get(to, "env");
	struct json *varied = json_dup(json_get(to, "env_varied"));

	varied = varied ? varied : json_array();
	for (const struct json *j = json_first(json_get(from, "env")); j;
	     j = json_next(j)) {
		const struct json *own = json_get(env, json_key(j));

		if (own && !json_equal(own, j) &&
		    !record_env_varied(to, json_key(j)))
			json_push(varied, json_string(json_key(j)));
	}
	json_set_filled(to, "env_varied", varied);
}

/* Adds the runs of another summary of the same cell. Returns -1, after
 * reporting it, if a histogram cannot be read. */
static int
pool_summary(struct json *to, const struct json *rec)
{
	int rc = 0;

	pool_metrics(json_get(to, "metrics"), json_get(rec, "metrics"));
	pool_quantiles(json_get(to, "quantiles"), json_get(rec, "quantiles"));
	if (json_get(rec, "hist"))
		rc = pool_hists(to, json_get(rec, "hist"));
	pool_env(to, rec);
	json_set_num(
	    to, "n", json_get_num(to, "n", 0) + json_get_num(rec, "n", 0));
	add_failed(to, rec);
	return rc;
}

static void
free_records(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		json_free(l->v[i]);
	free(l->v);
	*l = (struct list){0};
}

/* Makes a cell empty whose runs are those of both sides. */
static void
empty_cell(struct model *m, struct cell *c)
{
	const struct json *env = json_get(c->rec, "env");

	c->split = true;
	free_records(&c->series);
	free_records(&c->searches);
	c->rec = json_object();
	json_set(c->rec, "env", json_dup(env));
	json_set(c->rec, "metrics", json_object());
	keep_record(&m->others, c->rec);
}

/* Takes values from a row for a side that has no summary, or none of its own.
 */
static void
fill_cell(struct model *m, const struct model_result *r, size_t side)
{
	const struct pair *p = r->pair;
	struct cell *c = add_cell(m, r->kase, side ? p->contender : p->base);
	struct json *metrics;

	if (!c->rec || (p->contender->twin && !c->split))
		empty_cell(m, c);
	metrics = json_get(c->rec, "metrics");
	if (!json_get(metrics, r->row->name))
		json_set(metrics, r->row->name, make_metric(r->row, side));
}

/* Completes the cells, then counts their runs. Requires all records. */
static void
fill_gaps(struct model *m)
{
	take_failed_summaries(m);
	for (size_t i = 0; i < m->nresults; i++)
		for (size_t side = 0; side < 2; side++)
			fill_cell(m, &m->results[i], side);
	for (size_t i = 0; i < m->npairs; i++)
		fill_failed(m, &m->pairs[i]);
	for (size_t i = 0; i < m->ncells; i++) {
		const struct json *rec = m->cells[i].rec;

		if (record_is(rec, "summary"))
			m->runs += json_get_num(rec, "n", 0);
		m->failed += json_get_num(rec, "failed", 0);
	}
}

/* --- records: each function takes ownership of its record */

/* The runs of several summaries of a cell are all its runs; two that are equal,
 * with known sessions, are the same measurement given twice. Returns -1, after
 * reporting it, if a histogram cannot be read. */
static int
take_summary(struct model *m, struct json *rec)
{
	struct cell *c;

	if (!(json_get_num(rec, "n", 0) > 0)) {
		keep_record(&m->all_failed, rec);
		return 0;
	}
	c = add_cell_of(m, rec);
	keep_record(&m->others, rec);
	if (json_get(rec, "sessions") && hashset_add(m->seen, json_hash(rec)))
		m->duplicates++;
	else if (c->rec)
		return pool_summary(c->rec, rec);
	else
		c->rec = rec;
	return 0;
}

/* Keeps a record of a comparison until all of them are read; of its own records
 * the first. */
static void
take_compared(struct model *m, struct json *rec)
{
	struct pair *p = add_pair(m, rec);
	bool own = record_is(rec, "comparison");

	if (!own)
		add_case(m, json_get(rec, "config"));
	keep_record(own && p->whole ? &m->others : &p->records, rec);
	p->whole |= own;
}

/* A record of a comparison, and the text of its case; "": of all cases. */
struct compared {
	struct json *rec;
	const char *kase, *metric;
};

/* Orders names of metrics as their table, then by name. */
static int
compare_metrics(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	const struct metric *p = metric_find(x), *q = metric_find(y);

	if (p && q)
		return (p > q) - (p < q);
	return p || q ? (p ? -1 : 1) : strcmp(x, y);
}

static int
compare_records(const void *a, const void *b)
{
	const struct compared *x = a, *y = b;
	int c = !*x->kase - !*y->kase;

	c = c ? c : compare_texts(x->kase, y->kase);
	return c ? c : compare_metrics(&x->metric, &y->metric);
}

/* Sorts the records of a pair by case and metric, its own record last, so that
 * the order of the input does not matter. */
static void
sort_records(const struct model *m, struct list *l)
{
	struct compared *v = mem_array(l->n + 1, sizeof *v);

	for (size_t i = 0; i < l->n; i++) {
		const char *metric = json_get_str(l->v[i], "metric");

		v[i] = (struct compared){l->v[i], "", metric ? metric : ""};
		if (!record_is(l->v[i], "comparison"))
			v[i].kase = caseset_text(m->config_set,
			    caseset_find(
				m->config_set, json_get(l->v[i], "config")));
	}
	qsort(v, l->n, sizeof *v, compare_records);
	for (size_t i = 0; i < l->n; i++)
		l->v[i] = v[i].rec;
	free(v);
}

/* Makes the comparisons, and a result of each of their rows. Returns -1, after
 * reporting it, if some could not be made; these are left out. */
static int
make_results(struct model *m)
{
	size_t pairs = 0, all = 0;
	const char *why;
	int rc = 0;

	for (size_t i = 0; i < m->npairs; i++) {
		struct pair *p = &m->pairs[i];

		sort_records(m, &p->records);
		why = recorded_add(&m->compared, p->records.v, p->records.n);
		if (why)
			rc = err_fail(
			    "invalid results of a comparison: %s", why);
		else
			m->pairs[pairs++] = *p;
	}
	m->npairs = pairs;
	for (size_t i = 0; i < pairs; i++) {
		m->pairs[i].c = &m->compared.c[i];
		warnings_new(&m->compared.c[i]);
		all += m->pairs[i].c->nrows;
	}
	m->results = mem_array(all + 1, sizeof *m->results);
	for (size_t i = 0; i < pairs; i++)
		for (size_t k = 0; k < m->pairs[i].c->nrows; k++) {
			const struct row *r = &m->pairs[i].c->rows[k];

			m->results[m->nresults++] = (struct model_result){r,
			    add_case(m, r->pair->side[0]->config),
			    &m->pairs[i]};
		}
	return rc;
}

static void
take_change(struct model *m, struct json *rec)
{
	struct change c = {
	    .rec = rec,
	    .kase = add_case(m, json_get(rec, "config")),
	    .subject = add_subject(m, json_get(rec, "subject")),
	    .text = changetext_read(rec),
	    .slow = json_get(rec, "trend") ? "slow " : "",
	    .way = changetext_way(rec),
	};

	c.class = strcmp(c.way, "regression") == 0 ? "regression"
	    : strcmp(c.way, "improvement") == 0    ? "improvement"
						   : "spike";
	keep_record(&m->others, rec);
	*MEM_ADD(m->changes, m->nchanges, m->hcap) = c;
	c.kase->changes++;
}

static void
take_profile(struct model *m, struct json *rec)
{
	if (json_get(rec, "config"))
		add_case(m, json_get(rec, "config"));
	if (json_get(rec, "subject"))
		add_subject(m, json_get(rec, "subject"));
	keep_record(&m->profiles, rec);
}

static void
take_series(struct model *m, struct json *run)
{
	struct json *series = json_detach(run, "series");
	struct cell *c = add_cell_of(m, run);

	if (c->series.n < MODEL_SERIES && json_first(series))
		keep_record(&c->series, series);
	else
		json_free(series);
}

static void
take_search(struct model *m, struct json *run)
{
	struct cell *c = add_cell_of(m, run);

	if (c->searches.n < MODEL_SERIES)
		keep_record(&c->searches, json_detach(run, "capacity"));
}

static void
take_run(struct model *m, struct summary *s, struct json *run, int *rc,
    const char *where)
{
	const char *status = json_get_str(run, "status");
	bool ok = status && strcmp(status, "ok") == 0;

	if (summary_add(s, run, where) < 0)
		*rc = -1;
	if (ok && json_get(run, "series"))
		take_series(m, run);
	if (ok && json_get(run, "capacity"))
		take_search(m, run);
	json_free(run);
}

static int
take_all(struct model *m, struct summary *s, struct jsonl *in)
{
	struct json *rec;
	int rc = 0, got;

	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		m->records++;
		if (record_is(rec, "run"))
			take_run(m, s, rec, &rc, jsonl_where(in));
		else if (record_is(rec, "summary"))
			rc = take_summary(m, rec) < 0 ? -1 : rc;
		else if (record_is(rec, "delta") ||
		    record_is(rec, "comparison") || record_is(rec, "shift"))
			take_compared(m, rec);
		else if (record_is(rec, "change"))
			take_change(m, rec);
		else if (record_is(rec, "env"))
			keep_record(&m->envs, rec);
		else if (record_is(rec, "profile"))
			take_profile(m, rec);
		else {
			m->records--; /* not a type that is shown */
			json_free(rec);
		}
	}
	return rc;
}

int
model_read(struct model *m, struct jsonl *in)
{
	struct summary *s = summary_new(NULL, NULL);
	int rc;

	*m = (struct model){.subject_set = caseset_new(),
	    .config_set = caseset_new(),
	    .cell_keys = intern_new(),
	    .seen = hashset_new()};
	rc = take_all(m, s, in);
	for (size_t i = 0; i < summary_count(s); i++)
		if (take_summary(m, summary_record(s, i, false)) < 0)
			rc = -1;
	if (make_results(m) < 0)
		rc = -1;
	m->incomplete = rc < 0;
	fill_gaps(m);
	order_model(m);
	summary_free(s);
	return rc;
}

void
model_free(struct model *m)
{
	struct list *lists[] = {&m->envs, &m->profiles, &m->others};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		free_records(lists[i]);
	for (size_t i = 0; i < m->nsubjects; i++) {
		json_free(m->subjects[i]->json);
		free(m->subjects[i]->name);
		free(m->subjects[i]->brief);
		free(m->subjects[i]);
	}
	for (size_t i = 0; i < m->ncases; i++) {
		json_free(m->cases[i]->config);
		free(m->cases[i]->name);
		free(m->cases[i]->cells);
		free(m->cases[i]->results);
		free(m->cases[i]);
	}
	for (size_t i = 0; i < m->ncells; i++) {
		free_records(&m->cells[i].series);
		free_records(&m->cells[i].searches);
	}
	free(m->all_failed.v);
	free(m->subjects);
	free(m->ordered);
	free(m->cases);
	free(m->order);
	free(m->cells);
	free(m->results);
	free(m->pairs);
	for (size_t i = 0; i < m->compared.n; i++)
		warnings_free(&m->compared.c[i].warnings);
	recorded_free(&m->compared);
	free(m->changes);
	free(m->common);
	caseset_free(m->subject_set);
	caseset_free(m->config_set);
	intern_free(m->cell_keys);
	hashset_free(m->seen);
}

const struct model_case *
model_case(const struct model *m, const struct json *config)
{
	return m->cases[caseset_add_value(m->config_set, config)];
}

const struct subject *
model_subject(const struct model *m, const struct json *subject)
{
	return m->subjects[caseset_add_value(m->subject_set, subject)];
}

struct range
model_range(const struct json *pair)
{
	return (struct range){
	    json_num(json_at(pair, 0), NAN), json_num(json_at(pair, 1), NAN)};
}

const struct json *
model_metric(const struct cell *c, const char *metric)
{
	return json_get(json_get(c->rec, "metrics"), metric);
}

void
model_sort_metrics(const char **v, size_t n)
{
	mem_sort(v, n, sizeof *v, compare_metrics);
}

const char **
model_compared(const struct model *m, size_t *n)
{
	const char **v = mem_array(m->nresults + 1, sizeof *v);
	struct intern *seen = intern_new();

	*n = 0;
	for (size_t i = 0; i < m->nresults; i++)
		if (intern_id(seen, m->results[i].row->name) == *n)
			v[(*n)++] = m->results[i].row->name;
	model_sort_metrics(v, *n);
	intern_free(seen);
	return v;
}
