#include "part.h"
#include "json.h"
#include "jsonscan.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns a string without its escapes; "" if it is not UTF-8, which
 * jsonscan_end refuses. Caller frees. */
static char *
decode_text(const struct jsonscan_text *t)
{
	struct json *j;
	char *s;

	if (!t->escaped)
		return mem_strn(t->s, t->n);
	j = json_parse(t->s - 1, t->n + 2, NULL, NULL); /* with its quotes */
	s = mem_str(j ? json_str(j) : "");
	json_free(j);
	return s;
}

static bool
is_text(const struct jsonscan_text *t, const char *want)
{
	char *s;
	bool same;

	if (!t->escaped)
		return jsonscan_is(t, want);
	s = decode_text(t);
	same = strcmp(s, want) == 0;
	free(s);
	return same;
}

static bool
skip_value(struct jsonscan *c)
{
	return jsonscan_value(c, NULL, NULL);
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
read_part_metric(struct part *p, struct jsonscan *c,
    const struct jsonscan_text *name, size_t *cap)
{
	struct jsonscan_keys o;
	struct jsonscan_text key;
	struct part_metric *m;
	bool ok = true;

	p->metrics = mem_grow(p->metrics, p->nmetrics, cap, sizeof *m);
	m = &p->metrics[p->nmetrics++];
	*m = (struct part_metric){.name = decode_text(name), .mean = NAN};
	if (jsonscan_peek(c) != '{')
		return skip_value(c);
	jsonscan_object(c, &o);
	while (ok && jsonscan_member(c, &o, &key)) {
		if (is_text(&key, "values"))
			ok = read_part_list(c, &m->values);
		else if (is_text(&key, "blocks"))
			ok = read_part_list(c, &m->blocks);
		else if (is_text(&key, "sessions"))
			ok = read_part_list(c, &m->sessions);
		else
			ok = is_text(&key, "mean")
			    ? read_part_number(c, &m->mean)
			    : skip_value(c);
	}
	return ok && !c->failed;
}

static bool
read_part_metrics(struct part *p, struct jsonscan *c)
{
	struct jsonscan_keys o;
	struct jsonscan_text name;
	size_t cap = 0;

	jsonscan_object(c, &o);
	while (jsonscan_member(c, &o, &name))
		if (!read_part_metric(p, c, &name, &cap))
			return false;
	return !c->failed;
}

/* Reads the percentiles of one histogram. */
static bool
read_part_percentiles(struct part *p, struct jsonscan *c,
    const struct jsonscan_text *hist, size_t *cap)
{
	struct jsonscan_keys o;
	struct jsonscan_text key;
	struct part_quantile *q;

	if (jsonscan_peek(c) != '{')
		return skip_value(c);
	jsonscan_object(c, &o);
	while (jsonscan_member(c, &o, &key)) {
		p->quantiles =
		    mem_grow(p->quantiles, p->nquantiles, cap, sizeof *q);
		q = &p->quantiles[p->nquantiles++];
		*q = (struct part_quantile){
		    .hist = decode_text(hist), .percentile = decode_text(&key)};
		if (!read_part_list(c, &q->values))
			return false;
	}
	return !c->failed;
}

static bool
read_part_quantiles(struct part *p, struct jsonscan *c)
{
	struct jsonscan_keys o;
	struct jsonscan_text hist;
	size_t cap = 0;

	jsonscan_object(c, &o);
	while (jsonscan_member(c, &o, &hist))
		if (!read_part_percentiles(p, c, &hist, &cap))
			return false;
	return !c->failed;
}

/* Adds a member to the rest, as it is written. */
static void
keep_member(
    struct str *rest, const struct jsonscan_text *key, const char *s, size_t n)
{
	str_addc(rest, rest->len ? ',' : '{');
	str_addn(rest, key->s - 1, key->n + 2);
	str_addc(rest, ':');
	str_addn(rest, s, n);
}

static bool
read_part_member(struct part *p, struct jsonscan *c,
    const struct jsonscan_text *key, struct str *rest, bool hists)
{
	bool object = jsonscan_peek(c) == '{';
	struct jsonscan_text v;

	if (object && is_text(key, "metrics")) {
		keep_member(rest, key, "{}", 2);
		return read_part_metrics(p, c);
	}
	if (object && is_text(key, "quantiles"))
		return read_part_quantiles(p, c);
	if (!jsonscan_value(c, &v, NULL))
		return false;
	if (hists || !object || !is_text(key, "hist"))
		keep_member(rest, key, v.s, v.n);
	return true;
}

/* Returns false if the record is not a summary: most end here. */
static bool
read_part_type(
    struct jsonscan *c, const struct jsonscan_text *key, struct str *rest)
{
	struct jsonscan_text v;

	if (!jsonscan_string(c, &v) || !is_text(&v, "summary"))
		return false;
	keep_member(rest, key, v.s - 1, v.n + 2);
	return true;
}

static bool
read_part_members(
    struct part *p, struct jsonscan *c, struct str *rest, bool hists)
{
	struct jsonscan_keys o;
	struct jsonscan_text key;
	bool typed = false;

	if (!jsonscan_object(c, &o))
		return false;
	while (jsonscan_member(c, &o, &key)) {
		bool ok = is_text(&key, "type")
		    ? (typed = read_part_type(c, &key, rest))
		    : read_part_member(p, c, &key, rest, hists);

		if (!ok)
			return false;
	}
	return typed;
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
part_read(struct part *p, const char *text, size_t n, bool hists)
{
	struct str rest = {0};
	struct jsonscan c;
	const char *why;
	size_t at;
	bool good;

	*p = (struct part){0};
	jsonscan_begin(&c, text, n);
	good = read_part_members(p, &c, &rest, hists);
	if (good && jsonscan_end(&c, &why, &at) == 0) {
		str_addc(&rest, '}');
		p->rest = json_parse(rest.s, rest.len, NULL, NULL);
	}
	str_free(&rest);
	if (!p->rest) {
		part_free(p);
		return false;
	}
	if (p->nmetrics)
		qsort(p->metrics, p->nmetrics, sizeof *p->metrics,
		    compare_metric_names);
	if (p->nquantiles)
		qsort(p->quantiles, p->nquantiles, sizeof *p->quantiles,
		    compare_quantile_names);
	return true;
}

void
part_free(struct part *p)
{
	for (size_t i = 0; i < p->nmetrics; i++) {
		free(p->metrics[i].name);
		free(p->metrics[i].values.v);
		free(p->metrics[i].blocks.v);
		free(p->metrics[i].sessions.v);
	}
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

	record_room(&s, a->rest);
	record_room(&t, b->rest);
	c = strcmp(s.s, t.s);
	c = c ? c : part_compare_metrics(a, b);
	str_free(&s);
	str_free(&t);
	return c ? c : compare_quantiles(a, b);
}
