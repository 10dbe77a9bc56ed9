#include "group.h"
#include "runseries.h"
#include "err.h"
#include "histcodec.h"
#include "hist.h"
#include "mem.h"
#include "metric.h"
#include "runrecord.h"
#include "str.h"
#include "tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENVS 16 /* environments among which that of a run is searched */

void
group_free_hists(struct group_hists *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].name);
		hist_free(m->v[i].h);
	}
	free(m->v);
	*m = (struct group_hists){0};
}

static bool
has_layout(const struct hist *a, const struct hist *b)
{
	return hist_lowest(a) == hist_lowest(b) &&
	    hist_highest(a) == hist_highest(b) &&
	    hist_digits(a) == hist_digits(b);
}

void
group_add_hist(struct group_hists *m, const char *name, struct hist *h)
{
	for (size_t i = 0; i < m->n; i++)
		if (has_layout(m->v[i].h, h) &&
		    strcmp(m->v[i].name, name) == 0) {
			hist_merge(m->v[i].h, h);
			hist_free(h);
			return;
		}
	m->v = mem_resize(m->v, ++m->n, sizeof *m->v);
	m->v[m->n - 1] = (struct group_hist){mem_str(name), h};
}

bool
group_next_hist(
    struct group_hists *m, size_t *i, const char **name, struct hist **h)
{
	struct group_hist *v;
	int64_t lowest = INT64_MAX, highest = 0, one;
	size_t n = 0;
	int digits = 0;

	if (!*i && m->n)
		qsort(m->v, m->n, sizeof *m->v, str_compare);
	if (*i == m->n)
		return false;
	v = m->v + *i;
	for (; *i + n < m->n && strcmp(v[n].name, v->name) == 0; n++) {
		one = hist_lowest(v[n].h);
		lowest = one < lowest ? one : lowest;
		one = hist_highest(v[n].h);
		highest = one > highest ? one : highest;
		if (hist_digits(v[n].h) > digits)
			digits = hist_digits(v[n].h);
	}
	*i += n;
	*name = v->name;
	*h = hist_new(lowest, highest, digits);
	for (size_t k = 0; k < n; k++)
		hist_merge(*h, v[k].h);
	return true;
}

static void
free_tallies(struct group_tally *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(t[i].text);
	free(t);
}

void
group_free(struct group *g)
{
	rows_free(&g->rows);
	free(g->envs);
	group_free_hists(&g->hists);
	for (size_t i = 0; i < g->ntails; i++)
		free(g->tails[i]);
	free(g->tails);
	free_tallies(g->bound, g->nbound);
	free_tallies(g->errors, g->nerrors);
	run_series_free(g->series);
	free(g);
}

static uint32_t
convert_number(double v)
{
	return v >= 0 && v < ROWS_UNKNOWN && v == floor(v) ? (uint32_t)v
							   : ROWS_UNKNOWN;
}

static void
count_text(struct group_tally **t, size_t *n, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (strlen((*t)[i].text) == len &&
		    memcmp((*t)[i].text, text, len) == 0)
			break;
	if (i == *n) {
		*t = mem_resize(*t, ++*n, sizeof **t);
		(*t)[i] = (struct group_tally){mem_strn(text, len), 0};
	}
	(*t)[i].n++;
}

struct hist *
group_decode(const char *text, size_t n, const char *name, const char *where)
{
	const char *why = "not a string";
	struct hist *h = text ? histcodec_decode(text, n, &why) : NULL;

	if (!h)
		err_fail(
		    "%s: histogram '%s' cannot be read: %s", where, name, why);
	return h;
}

/* Is a metric of this histogram judged by its slow requests? */
static bool
has_tail(const char *hist)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (m->rare_margin > 0 && strcmp(m->hist, hist) == 0)
			return true;
	return false;
}

/* Sets the tail of the last run. */
static void
add_tail(struct group *g, const struct hist *h)
{
	struct str s = {0};

	tail_write(&s, h);
	while (g->ntails < g->rows.n)
		*MEM_ADD(g->tails, g->ntails, g->tailcap) = NULL;
	g->tails[g->rows.n - 1] = str_take(&s);
}

static int
add_hist(struct group *g, const char *name, const char *text, size_t n,
    const char *where)
{
	bool tail = g->has_rate && has_tail(name);
	struct hist *h;

	if (g->no_hists && !tail)
		return 0;
	h = group_decode(text, n, name, where);
	if (!h)
		return -1;
	if (tail)
		add_tail(g, h);
	if (g->no_hists) {
		hist_free(h);
		return 0;
	}
	run_series_hist(g->series, g->rows.n - 1, name, h);
	group_add_hist(&g->hists, name, h);
	return 0;
}

/* Counts the environment of a run: usually one of the last few. */
static void
count_env(struct group *g, uint32_t env)
{
	size_t i = g->nenvs, least = i > ENVS ? i - ENVS : 0;

	while (i > least && g->envs[i - 1].env != env)
		i--;
	if (i == least) {
		*MEM_ADD(g->envs, g->nenvs, g->envcap) =
		    (struct group_env){env, 0};
		i = g->nenvs;
	}
	g->envs[i - 1].n++;
}

int
group_add(struct group *g, const struct run_record *r, struct intern *names,
    uint32_t session, uint32_t env, const char *where)
{
	static const char unknown[] = "no error is recorded";
	size_t at = 0;
	int rc = 0;

	count_env(g, env);
	if (!g->series && (r->series.s || r->nhists))
		g->series = run_series_new();
	if (g->series)
		run_series_add(g->series, g->rows.n, r);
	if (!r->ok) {
		g->failed++;
		count_text(&g->errors, &g->nerrors,
		    r->error.s ? r->error.s : unknown,
		    r->error.s ? r->error.n : strlen(unknown));
		return 0;
	}
	rows_add(&g->rows,
	    (struct rows_run){session, convert_number(r->block),
		convert_number(r->index), convert_number(r->order)});
	for (size_t i = 0; i < r->nmetrics; i++)
		rows_set(&g->rows, names, r->metrics[i].name.s,
		    r->metrics[i].name.n, r->metrics[i].value, &at);
	if (r->bound.s)
		count_text(&g->bound, &g->nbound, r->bound.s, r->bound.n);
	for (size_t i = 0; i < r->nhists; i++) {
		const struct run_hist *h = &r->hists[i];
		char *name = mem_strn(h->name.s, h->name.n);

		if (add_hist(g, name, h->text.s, h->text.n, where) < 0)
			rc = -1;
		free(name);
	}
	return rc;
}
