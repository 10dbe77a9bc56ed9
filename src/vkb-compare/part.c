#include "part.h"
#include "counted.h"
#include "json.h"
#include "jsonscan.h"
#include "mem.h"
#include "recordreader.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool read_metrics(struct record_reading *, uint64_t *hash);
static bool read_quantiles(struct record_reading *, uint64_t *hash);
static bool skip_hists(struct record_reading *, uint64_t *hash);

struct part_reader {
	struct record_reader *reader;
	struct str rest;
};

struct part_reader *
part_reader_new(bool hists)
{
	static const struct record_member members[] = {
	    {.path = "hist", .read = skip_hists},
	    {.path = "metrics", .read = read_metrics},
	    {.path = "quantiles", .read = read_quantiles}, {0}};
	struct part_reader *r = mem_new(sizeof *r);

	r->reader = record_reader_new("summary", members + hists, false);
	return r;
}

void
part_reader_free(struct part_reader *r)
{
	record_reader_free(r->reader);
	str_free(&r->rest);
	free(r);
}

/* Returns a copy of a key without its escapes. Caller frees. */
static char *
copy_text(struct record_reading *x, struct jsonscan_text t)
{
	record_reader_resolve(x->reader, &t);
	return mem_strn(t.s, t.n);
}

static bool
skip_value(struct jsonscan *c)
{
	return jsonscan_value(c, NULL, NULL);
}

static bool
skip_hists(struct record_reading *x, uint64_t *hash)
{
	(void)hash;
	return skip_value(&x->c);
}

static bool
read_part_number(struct jsonscan *c, double *v)
{
	*v = NAN;
	return jsonscan_number(c, v) || skip_value(c);
}

static bool
read_part_list(struct jsonscan *c, struct part_list *l)
{
	bool first = true;
	size_t cap = 0;

	if (jsonscan_peek(c) != '[')
		return skip_value(c);
	jsonscan_array(c);
	while (jsonscan_element(c, &first)) {
		l->v = mem_grow(l->v, l->n, &cap, sizeof *l->v);
		if (!read_part_number(c, &l->v[l->n++]))
			return false;
	}
	if (l->n)
		l->v = mem_resize(l->v, l->n, sizeof *l->v);
	return !c->failed;
}

static bool
read_metric(
    struct record_reading *x, const struct jsonscan_text *name, size_t *cap)
{
	struct part *p = x->to;
	struct jsonscan *c = &x->c;
	struct jsonscan_keys o;
	struct jsonscan_text key;
	struct part_metric *m;
	bool ok = true;

	p->metrics = mem_grow(p->metrics, p->nmetrics, cap, sizeof *m);
	m = &p->metrics[p->nmetrics++];
	*m = (struct part_metric){.name = copy_text(x, *name), .mean = NAN};
	if (jsonscan_peek(c) != '{')
		return skip_value(c);
	jsonscan_object(c, &o);
	while (ok && jsonscan_member(c, &o, &key)) {
		record_reader_resolve(x->reader, &key);
		if (jsonscan_is(&key, "values"))
			ok = read_part_list(c, &m->values);
		else if (jsonscan_is(&key, "blocks"))
			ok = read_part_list(c, &m->blocks);
		else if (jsonscan_is(&key, "sessions"))
			ok = read_part_list(c, &m->sessions);
		else
			ok = jsonscan_is(&key, "mean")
			    ? read_part_number(c, &m->mean)
			    : skip_value(c);
	}
	return ok && !c->failed;
}

static bool
read_metrics(struct record_reading *x, uint64_t *hash)
{
	struct jsonscan_keys o;
	struct jsonscan_text name;
	size_t cap = 0;

	(void)hash;
	jsonscan_object(&x->c, &o);
	while (jsonscan_member(&x->c, &o, &name))
		if (!read_metric(x, &name, &cap))
			return false;
	return !x->c.failed;
}

/* Reads the percentiles of one histogram. */
static bool
read_percentiles(
    struct record_reading *x, const struct jsonscan_text *hist, size_t *cap)
{
	struct part *p = x->to;
	struct jsonscan_keys o;
	struct jsonscan_text key;
	struct part_quantile *q;

	if (jsonscan_peek(&x->c) != '{')
		return skip_value(&x->c);
	jsonscan_object(&x->c, &o);
	while (jsonscan_member(&x->c, &o, &key)) {
		p->quantiles =
		    mem_grow(p->quantiles, p->nquantiles, cap, sizeof *q);
		q = &p->quantiles[p->nquantiles++];
		*q = (struct part_quantile){.hist = copy_text(x, *hist),
		    .percentile = copy_text(x, key)};
		if (!read_part_list(&x->c, &q->values))
			return false;
	}
	return !x->c.failed;
}

static bool
read_quantiles(struct record_reading *x, uint64_t *hash)
{
	struct jsonscan_keys o;
	struct jsonscan_text hist;
	size_t cap = 0;

	(void)hash;
	jsonscan_object(&x->c, &o);
	while (jsonscan_member(&x->c, &o, &hist))
		if (!read_percentiles(x, &hist, &cap))
			return false;
	return !x->c.failed;
}

static int
compare_metric_names(const void *a, const void *b)
{
	const struct part_metric *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int
compare_quantile_names(const void *a, const void *b)
{
	const struct part_quantile *x = a, *y = b;
	int c = strcmp(x->hist, y->hist);

	return c ? c : strcmp(x->percentile, y->percentile);
}

bool
part_read(struct part_reader *r, struct part *p, const char *text, size_t n)
{
	*p = (struct part){0};
	str_clear(&r->rest);
	if (!record_reader_read(r->reader, p, text, n, NULL, &r->rest)) {
		part_free(p);
		return false;
	}
	p->rest = json_parse(r->rest.s, r->rest.len, NULL, NULL);
	if (p->nmetrics)
		qsort(p->metrics, p->nmetrics, sizeof *p->metrics,
		    compare_metric_names);
	if (p->nquantiles)
		qsort(p->quantiles, p->nquantiles, sizeof *p->quantiles,
		    compare_quantile_names);
	return true;
}

static void
free_metric(struct part_metric *m)
{
	free(m->name);
	free(m->values.v);
	free(m->blocks.v);
	free(m->sessions.v);
}

void
part_free(struct part *p)
{
	for (size_t i = 0; i < p->nmetrics; i++)
		free_metric(&p->metrics[i]);
	for (size_t i = 0; i < p->nquantiles; i++) {
		free(p->quantiles[i].hist);
		free(p->quantiles[i].percentile);
		free(p->quantiles[i].values.v);
	}
	free(p->metrics);
	free(p->quantiles);
	json_free(p->rest);
	*p = (struct part){0};
}

const struct part_metric *
part_metric(const struct part *p, const char *name)
{
	struct part_metric m = {.name = (char *)(size_t)name};

	return p->nmetrics ? bsearch(&m, p->metrics, p->nmetrics, sizeof m,
				 compare_metric_names)
			   : NULL;
}

bool
part_is_counted(const struct part *p, const char *name)
{
	const struct part_metric *m = part_metric(p, name);
	const struct part_metric *count = part_metric(p, COUNTED_METRIC);

	return m && count && m->values.n && count->values.n == m->values.n;
}

void
part_drop_metric(struct part *p, const char *name)
{
	size_t i = 0;

	while (i < p->nmetrics && strcmp(p->metrics[i].name, name) != 0)
		i++;
	if (i == p->nmetrics)
		return;
	free_metric(&p->metrics[i]);
	memmove(&p->metrics[i], &p->metrics[i + 1],
	    (--p->nmetrics - i) * sizeof *p->metrics);
}

double
part_seconds(const struct part *p)
{
	const struct part_metric *m = part_metric(p, "elapsed_s");

	if (m && !isnan(m->mean))
		return m->mean;
	return json_get_num(json_get(p->rest, "config"), "duration_s", NAN);
}

static int
compare_lists(const struct part_list *a, const struct part_list *b)
{
	int c = (a->n > b->n) - (a->n < b->n);

	return c || !a->n ? c : memcmp(a->v, b->v, a->n * sizeof *a->v);
}

int
part_compare_metrics(const struct part *a, const struct part *b)
{
	int c = (a->nmetrics > b->nmetrics) - (a->nmetrics < b->nmetrics);

	for (size_t i = 0; !c && i < a->nmetrics; i++) {
		const struct part_metric *x = &a->metrics[i];
		const struct part_metric *y = &b->metrics[i];

		c = strcmp(x->name, y->name);
		c = c ? c : compare_lists(&x->values, &y->values);
		c = c ? c : compare_lists(&x->blocks, &y->blocks);
		c = c ? c : compare_lists(&x->sessions, &y->sessions);
	}
	return c;
}

static int
compare_quantiles(const struct part *a, const struct part *b)
{
	int c =
	    (a->nquantiles > b->nquantiles) - (a->nquantiles < b->nquantiles);

	for (size_t i = 0; !c && i < a->nquantiles; i++) {
		c = compare_quantile_names(&a->quantiles[i], &b->quantiles[i]);
		c = c ? c
		      : compare_lists(
			    &a->quantiles[i].values, &b->quantiles[i].values);
	}
	return c;
}

int
part_compare(const struct part *a, const struct part *b)
{
	struct str s = {0}, t = {0};
	int c;

	json_canonical(&s, a->rest);
	json_canonical(&t, b->rest);
	c = strcmp(s.s, t.s);
	c = c ? c : part_compare_metrics(a, b);
	str_free(&s);
	str_free(&t);
	return c ? c : compare_quantiles(a, b);
}
