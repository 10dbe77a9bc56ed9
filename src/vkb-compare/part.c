#include "part.h"
#include "caseset.h"
#include "counted.h"
#include "intern.h"
#include "json.h"
#include "jsonscan.h"
#include "mem.h"
#include "metric.h"
#include "recordreader.h"
#include "str.h"
#include "summary.h"
#include "tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The runs of a metric, of which lists say the values and more. */
enum list { VALUES, BLOCKS, SESSIONS, TAILS, LISTS };

struct runs {
	struct summary_run *v;
	size_t n, cap;
	size_t values; /* those that have one are the first */
};

struct part_reader {
	struct record_reader *reader;
	struct intern *names, *sessions;
	const struct metric **known; /* by number of the name, or NULL */
	size_t knowncap;
	struct caseset *configs, *subjects, *rests; /* the last is its own */
	void **kept; /* what samples borrow: rounds and tails */
	size_t nkept, keptcap;
	struct sample last; /* has the last rounds without tails */
	struct str rest;
	struct part part; /* that is being read */
	struct jsonscan_text config, subject, hists, quantiles;
	struct runs *runs; /* of each of its metrics */
	size_t nruns, cap, runcap;
};

static bool
skip_value(struct jsonscan *c)
{
	return jsonscan_value(c, NULL, NULL);
}

static bool
skip_member(struct record_reading *x, uint64_t *hash)
{
	(void)hash;
	return skip_value(&x->c);
}

/* Returns run i, of which nothing is known if it is new. */
static struct summary_run *
find_run(struct runs *m, size_t i)
{
	while (m->n <= i) {
		m->v = mem_grow(m->v, m->n, &m->cap, sizeof *m->v);
		m->v[m->n++] = (struct summary_run){NAN, NAN, NAN, NULL};
	}
	return &m->v[i];
}

static bool
read_list(struct jsonscan *c, struct runs *m, enum list which)
{
	bool first = true;
	size_t n = 0;

	if (jsonscan_peek(c) != '[')
		return skip_value(c);
	jsonscan_array(c);
	for (; jsonscan_element(c, &first); n++) {
		struct summary_run *run = find_run(m, n);
		double *to = which == VALUES ? &run->value
		    : which == BLOCKS        ? &run->block
					     : &run->session;

		if (which == TAILS && jsonscan_peek(c))
			run->tail = c->p;
		if ((which == TAILS || !jsonscan_number(c, to)) &&
		    !skip_value(c))
			return false;
	}
	if (which == VALUES)
		m->values = n;
	return !c->failed;
}

/* Adds a metric to the part that is being read. Returns its runs. */
static struct runs *
add_metric(struct part_reader *r, const char *name, size_t n)
{
	struct part *p = &r->part;
	size_t new = intern_count(r->names), id = intern_idn(r->names, name, n);
	struct runs *m;

	if (p->nmetrics == r->nruns) {
		r->runs =
		    mem_grow(r->runs, r->nruns, &r->runcap, sizeof *r->runs);
		r->runs[r->nruns++] = (struct runs){0};
	}
	m = &r->runs[p->nmetrics];
	m->n = m->values = 0;
	p->metrics =
	    mem_grow(p->metrics, p->nmetrics, &r->cap, sizeof *p->metrics);
	name = intern_text(r->names, id);
	if (id == new) {
		r->known =
		    mem_grow(r->known, id, &r->knowncap, sizeof *r->known);
		r->known[id] = metric_find(name);
	}
	p->metrics[p->nmetrics++] =
	    (struct part_metric){.name = name, .of = r->known[id]};
	return m;
}

static bool
read_metric(struct record_reading *x, struct jsonscan_text *name)
{
	static const char *const names[LISTS] = {
	    "values", "blocks", "sessions", "tails"};
	struct jsonscan *c = &x->c;
	struct jsonscan_keys o;
	struct jsonscan_text key;
	struct runs *m;
	bool ok = true;

	record_reader_resolve(x->reader, name);
	m = add_metric(x->to, name->s, name->n);
	if (jsonscan_peek(c) != '{')
		return skip_value(c);
	jsonscan_object(c, &o);
	while (ok && jsonscan_member(c, &o, &key)) {
		enum list k = 0;

		record_reader_resolve(x->reader, &key);
		while (k < LISTS && !jsonscan_is(&key, names[k]))
			k++;
		ok = k < LISTS ? read_list(c, m, k) : skip_value(c);
	}
	return ok && !c->failed;
}

static bool
read_metrics(struct record_reading *x, uint64_t *hash)
{
	struct jsonscan_keys o;
	struct jsonscan_text name;

	(void)hash;
	jsonscan_object(&x->c, &o);
	while (jsonscan_member(&x->c, &o, &name))
		if (!read_metric(x, &name))
			return false;
	return !x->c.failed;
}

struct part_reader *
part_reader_new(struct caseset *configs, struct caseset *subjects, bool hists)
{
	static const struct record_member members[][6] = {
	    {{.path = "hist", .read = skip_member},
		{.path = "metrics", .read = read_metrics},
		{.path = "quantiles", .read = skip_member},
		{.path = "config", .at = offsetof(struct part_reader, config)},
		{.path = "subject",
		    .at = offsetof(struct part_reader, subject)}},
	    {{.path = "hist", .at = offsetof(struct part_reader, hists)},
		{.path = "metrics", .read = read_metrics},
		{.path = "quantiles",
		    .at = offsetof(struct part_reader, quantiles)},
		{.path = "config", .at = offsetof(struct part_reader, config)},
		{.path = "subject",
		    .at = offsetof(struct part_reader, subject)}}};
	struct part_reader *r = mem_new(sizeof *r);

	r->reader = record_reader_new("summary", members[hists], false);
	r->names = intern_new();
	r->sessions = intern_new();
	r->configs = configs;
	r->subjects = subjects;
	r->rests = caseset_new();
	return r;
}

void
part_reader_free(struct part_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nkept; i++)
		free(r->kept[i]);
	free(r->kept);
	caseset_free(r->rests);
	intern_free(r->names);
	intern_free(r->sessions);
	free(r->known);
	record_reader_free(r->reader);
	str_free(&r->rest);
	for (size_t i = 0; i < r->nruns; i++)
		free(r->runs[i].v);
	free(r->runs);
	free(r);
}

/* Gives the reader something that samples borrow. */
static void
keep_memory(struct part_reader *r, void *memory)
{
	r->kept = mem_grow(r->kept, r->nkept, &r->keptcap, sizeof(void *));
	r->kept[r->nkept++] = memory;
}

/* Gives the reader the rounds of a sample. Most have those of the one before.
 */
static void
keep_rounds(struct part_reader *r, struct sample *s)
{
	if (s->n == r->last.n && s->n &&
	    memcmp(s->rounds, r->last.rounds, s->n * sizeof *s->rounds) == 0) {
		free(s->rounds);
		s->rounds = r->last.rounds;
		return;
	}
	keep_memory(r, s->rounds);
	if (s->n && !s->rounds->tail)
		r->last = *s;
}

static struct json *
parse_text(const char *s, size_t n)
{
	return s ? json_parse(s, n, NULL, NULL) : NULL;
}

/* Sets the tails of the runs of a metric, if all of them are known. */
static void
set_tails(struct part_reader *r, const struct runs *m, struct round *rounds)
{
	struct tail *v = mem_array(m->values, sizeof *v);
	bool known = m->values > 0;

	keep_memory(r, v);
	for (size_t i = 0; i < m->values && known; i++) {
		const char *text = m->v[i].tail;
		struct json *j =
		    parse_text(text, text ? strcspn(text, "]") + 1 : 0);
		size_t n;
		double *numbers = json_numbers(j, &n);

		keep_memory(r, numbers);
		known = tail_read(&v[i], numbers, n) == 0;
		json_free(j);
	}
	for (size_t i = 0; i < m->values && known; i++)
		rounds[i].tail = &v[i];
}

/* Sets the runs of a metric; sessions are numbers of the names. */
static void
set_runs(struct part_reader *r, struct sample *s, const struct runs *m,
    const char *const *names, size_t n)
{
	double *v = mem_array(m->values + 1, sizeof *v);
	struct round *rounds = mem_array(m->values + 1, sizeof *rounds);

	for (size_t i = 0; i < m->values; i++) {
		double at = m->v[i].session;

		at = n == 1 && isnan(at) ? 0 : at;
		v[i] = m->v[i].value;
		rounds[i].block = m->v[i].block;
		if (at >= 0 && at < (double)n)
			rounds[i].session = names[(size_t)at];
	}
	if (m->values && m->v->tail)
		set_tails(r, m, rounds);
	sample_add(s, v, rounds, m->values);
	free(v);
	free(rounds);
	keep_rounds(r, s);
}

static int
compare_names(const void *a, const void *b)
{
	const struct part_metric *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Makes the metrics of the part that was read. */
static void
set_metrics(struct part_reader *r, struct part *p)
{
	const struct json *sessions = json_get(p->rest, "sessions");
	const char **names = mem_array(json_len(sessions) + 1, sizeof *names);
	const struct part_metric *count;
	size_t n = 0;

	for (const struct json *j = json_first(sessions); j; j = json_next(j))
		names[n++] = intern_text(
		    r->sessions, intern_id(r->sessions, json_str(j)));
	for (size_t i = 0; i < p->nmetrics; i++)
		set_runs(r, &p->metrics[i].runs, &r->runs[i], names, n);
	free(names);
	if (p->nmetrics)
		qsort(
		    p->metrics, p->nmetrics, sizeof *p->metrics, compare_names);
	count = part_metric(p, COUNTED_METRIC);
	for (size_t i = 0; i < p->nmetrics; i++)
		p->metrics[i].counted = count && count->runs.n &&
		    count->runs.n == p->metrics[i].runs.n;
}

/* Takes the metrics from the runs of a record. */
static void
take_metric(
    void *to, const char *name, const struct summary_run *runs, size_t n)
{
	struct runs *m = add_metric(to, name, strlen(name));

	for (; m->values < n; m->values++)
		*find_run(m, m->values) = runs[m->values];
}

/* Returns the part that was read; 'rest' is the JSON of its other members. */
static struct part
finish_part(struct part_reader *r, const char *rest, size_t n)
{
	struct part p = r->part;

	p.rest = caseset_tree(r->rests, caseset_add(r->rests, rest, n));
	set_metrics(r, &p);
	p.metrics = mem_resize(p.metrics, p.nmetrics, sizeof *p.metrics);
	r->part = (struct part){0};
	r->cap = 0;
	return p;
}

struct part
part_take(struct part_reader *r, struct summary *s, size_t i)
{
	struct summary_compared c = summary_compare(s, i, take_metric, r);

	r->part.config = c.config;
	r->part.subject = c.subject;
	r->part.hists = c.hists;
	r->part.quantiles = c.quantiles;
	return finish_part(r, c.rest, strlen(c.rest));
}

bool
part_read(struct part_reader *r, struct part *p, const char *text, size_t n)
{
	r->hists = r->quantiles = (struct jsonscan_text){0};
	str_clear(&r->rest);
	if (!record_reader_read(r->reader, r, text, n, NULL, &r->rest)) {
		part_free(&r->part);
		r->cap = 0;
		return false;
	}
	r->part.config = caseset_add(r->configs, r->config.s, r->config.n);
	r->part.subject = caseset_add(r->subjects, r->subject.s, r->subject.n);
	r->part.hists = parse_text(r->hists.s, r->hists.n);
	r->part.quantiles = parse_text(r->quantiles.s, r->quantiles.n);
	*p = finish_part(r, r->rest.s, r->rest.len);
	return true;
}

void
part_free(struct part *p)
{
	for (size_t i = 0; i < p->nmetrics; i++)
		free(p->metrics[i].runs.v);
	free(p->metrics);
	json_free(p->hists);
	json_free(p->quantiles);
	*p = (struct part){0};
}

const struct part_metric *
part_metric(const struct part *p, const char *name)
{
	struct part_metric m = {.name = name};

	return p->nmetrics
	    ? bsearch(&m, p->metrics, p->nmetrics, sizeof m, compare_names)
	    : NULL;
}

/* Joins the runs of a metric of two parts. */
static void
take_runs(
    struct part_reader *r, struct part_metric *m, struct part_metric *from)
{
	const struct metric of = metric_guess(m->name);

	if (m->counted != from->counted && counted_may_be(&of)) {
		struct part_metric measured = m->counted ? *from : *m;

		*m = m->counted ? *m : *from;
		*from = measured;
	} else {
		struct sample both = {0};

		sample_add(&both, m->runs.v, m->runs.rounds, m->runs.n);
		sample_add(
		    &both, from->runs.v, from->runs.rounds, from->runs.n);
		keep_rounds(r, &both);
		free(m->runs.v);
		m->runs = both;
		m->counted = m->counted && from->counted;
	}
	free(from->runs.v);
}

void
part_take_metrics(struct part_reader *r, struct part *p, struct part *from)
{
	size_t n = p->nmetrics;

	p->metrics =
	    mem_resize(p->metrics, n + from->nmetrics + 1, sizeof *p->metrics);
	for (size_t i = 0; i < from->nmetrics; i++) {
		struct part_metric *m = &from->metrics[i];
		struct part_metric *at = n
		    ? bsearch(m, p->metrics, n, sizeof *m, compare_names)
		    : NULL;

		if (at)
			take_runs(r, at, m);
		else
			p->metrics[p->nmetrics++] = *m;
	}
	from->nmetrics = 0;
	if (p->nmetrics)
		qsort(
		    p->metrics, p->nmetrics, sizeof *p->metrics, compare_names);
}

static int
compare_metrics(const struct part *a, const struct part *b, bool rounds)
{
	int c = (a->nmetrics > b->nmetrics) - (a->nmetrics < b->nmetrics);

	for (size_t i = 0; !c && i < a->nmetrics; i++) {
		c = compare_names(&a->metrics[i], &b->metrics[i]);
		c = c ? c
		      : sample_compare(
			    &a->metrics[i].runs, &b->metrics[i].runs, rounds);
	}
	return c;
}

int
part_compare_metrics(const struct part *a, const struct part *b)
{
	return compare_metrics(a, b, false);
}

static int
compare_trees(const struct json *a, const struct json *b)
{
	struct str s = {0}, t = {0};
	int c;

	if (a == b)
		return 0;
	json_canonical(&s, a);
	json_canonical(&t, b);
	c = strcmp(s.s, t.s);
	str_free(&s);
	str_free(&t);
	return c;
}

int
part_compare(const struct part *a, const struct part *b)
{
	int c = compare_trees(a->rest, b->rest);

	c = c ? c : compare_metrics(a, b, true);
	c = c ? c : compare_trees(a->hists, b->hists);
	return c ? c : compare_trees(a->quantiles, b->quantiles);
}
