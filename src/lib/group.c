#include "group.h"
#include "caseset.h"
#include "runseries.h"
#include "err.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "mem.h"
#include "runrecord.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	for (size_t i = 0; i < g->nenv; i++) {
		free(g->env[i].name);
		json_free(g->env[i].value);
	}
	free(g->env);
	merged_free(&g->hists);
	free_tallies(g->bound, g->nbound);
	free_tallies(g->errors, g->nerrors);
	run_series_free(g->course);
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

static struct group_setting *
intern_setting(struct group *g, const struct json *j, size_t at)
{
	const char *name = json_key(j);

	/* Most runs have the same settings in the same order. */
	if (at < g->nenv && strcmp(g->env[at].name, name) == 0)
		return &g->env[at];
	for (at = 0; at < g->nenv; at++)
		if (strcmp(g->env[at].name, name) == 0)
			return &g->env[at];
	g->env = mem_grow(g->env, g->nenv, &g->envcap, sizeof *g->env);
	g->env[at] =
	    (struct group_setting){mem_str(name), json_dup(j), 0, false};
	return &g->env[g->nenv++];
}

/* Counts the environment of 'times' runs. */
static void
add_env(struct group *g, const struct json *env, size_t times)
{
	size_t at = 0;

	for (const struct json *j = json_first(env); j; j = json_next(j)) {
		struct group_setting *e = intern_setting(g, j, at);

		at = (size_t)(e - g->env) + 1;
		e->n += times;
		if (!e->varied && !json_equal(e->value, j))
			e->varied = true;
	}
}

void
group_settle(struct group *g, const struct caseset *envs)
{
	struct json *env;

	if (!g->env_more)
		return;
	if (g->env_last != GROUP_NO_ENV) {
		env = caseset_value(envs, g->env_last);
		add_env(g, env, g->env_more);
		json_free(env);
	}
	g->env_more = 0;
}

size_t
group_bytes(const struct group *g)
{
	return rows_bytes(&g->rows) + merged_bytes(&g->hists);
}

int
group_spill(struct group *g, struct scratch *s)
{
	if (rows_spill(&g->rows, s) < 0)
		return -1;
	return merged_spill(&g->hists, s);
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

static int
add_hist(struct group *g, const char *name, const char *text, size_t n,
    const char *where)
{
	struct hist *h;

	if (g->no_hists)
		return 0;
	h = group_decode(text, n, name, where);
	if (!h)
		return -1;
	run_series_hist(g->course, g->rows.n - 1, name, h);
	merged_add(&g->hists, name, h);
	return 0;
}

static void
note_env(struct group *g, const struct caseset *envs, size_t env)
{
	if (g->env_last != env)
		group_settle(g, envs);
	g->env_last = env;
	g->env_more++;
}

static void
add_failure(struct group *g, const struct run_record *r)
{
	static const char unknown[] = "unknown error";

	g->failed++;
	if (r->error.s)
		count_text(&g->errors, &g->nerrors, r->error.s, r->error.n);
	else
		count_text(
		    &g->errors, &g->nerrors, unknown, sizeof unknown - 1);
}

int
group_add(struct group *g, const struct run_record *r, uint32_t session,
    const struct caseset *envs, size_t env, const char *where)
{
	size_t at = 0;
	int rc = 0;

	note_env(g, envs, env);
	if (!g->course)
		g->course = run_series_new();
	run_series_add(g->course, g->rows.n, r);
	if (!r->ok) {
		add_failure(g, r);
		return 0;
	}
	rows_add(&g->rows,
	    (struct rows_run){session, convert_number(r->block),
		convert_number(r->index), convert_number(r->order)});
	for (size_t i = 0; i < r->nmetrics; i++)
		rows_set(&g->rows, r->metrics[i].name.s, r->metrics[i].name.n,
		    r->metrics[i].value, &at);
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
