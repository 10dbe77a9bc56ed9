#include "common.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "part.h"

#include <math.h>
#include <stdlib.h>
#include <sys/param.h>

/* Returns what the configurations of all cases on both sides share, so that the
 * name of the row for all cases differs from theirs only in the command. */
static struct json *
share_config(const struct comparison *c)
{
	struct json *shared = json_object();
	const struct json *first = NULL;

	for (size_t i = 0; i < c->npairs && !first; i++)
		if (c->pairs[i].side[0] && c->pairs[i].side[1])
			first = c->pairs[i].side[0]->config;
	for (const struct json *j = json_first(first); j; j = json_next(j)) {
		bool same = true;

		for (size_t i = 0; i < c->npairs && same; i++)
			if (c->pairs[i].side[0] && c->pairs[i].side[1])
				same = json_equal(j,
				    json_get(c->pairs[i].side[0]->config,
					json_key(j)));
		if (same)
			json_set(shared, json_key(j), json_dup(j));
	}
	json_set_str(shared, "command", COMMON_NAME);
	return shared;
}

/* Makes the pair of the rows that stand for all cases. */
static void
make_everything(struct comparison *c)
{
	struct kase *k = mem_new(sizeof *k);

	k->config = share_config(c);
	k->nparts = 1;
	k->parts = mem_new(sizeof *k->parts);
	k->parts[0].rest = json_object();
	json_set_num(k->parts[0].rest, "n", 1);
	c->everything = (struct pairing){.side = {k, k}, .rows = 1};
	for (size_t j = 0; j < 2; j++)
		c->everything.name[j] = mem_str(COMMON_NAME);
}

/* Returns the judged row with the widest margin, or NULL. With a narrower one
 * all cases together could be a regression although each is within its own
 * margin. */
static const struct row *
find_like(struct row *const *rows, size_t n)
{
	const struct row *like = NULL;

	for (size_t i = 0; i < n; i++)
		if (rows[i]->gate && (!like || rows[i]->margin > like->margin))
			like = rows[i];
	return like;
}

void
common_add(struct comparison *c, struct row *const *rows, size_t n,
    const struct model_metric *m)
{
	const struct row *like = find_like(rows, n);
	struct row row = {.pair = &c->everything,
	    .gate = true,
	    .common = true,
	    .visible = NAN,
	    .minutes = NAN,
	    .model = {.logs = true,
		.n = {n, n},
		.change = m->moved,
		.own = m->moved_error,
		.error = m->moved_error,
		.least = m->common,
		.shared = 1,
		.down = m->down,
		.up = m->up}};
	size_t runs = 0;

	if (!like)
		return;
	row.waiver = like->waiver;
	for (size_t i = 0; i < n; i++) {
		const struct row *of = rows[i];

		runs = MAX(runs, MIN(of->facts.m, of->facts.n));
		row.primary = row.primary || of->primary;
		if (of->gate && of->waiver.reason != row.waiver.reason)
			row.waiver = (struct policy_waiver){0};
	}
	if (runs < VERDICT_RUNS)
		return;
	row.name = mem_str(like->name);
	row.metric = like->metric;
	row.margin = like->margin;
	row.margin_sign = like->margin_sign;
	row.margin_from = like->margin_from;
	row.facts = verdict_start(NULL, 0, NULL, 0);
	row.facts.m = row.facts.n = n;
	row.facts.median[0] = 1;
	row.facts.median[1] = exp(m->moved);
	verdict_take(&row.facts, &row.model);
	if (!c->everything.side[0])
		make_everything(c);
	c->rows = mem_grow(c->rows, c->nrows, &c->cap, sizeof *c->rows);
	c->rows[c->nrows++] = row;
}

void
common_free(struct comparison *c)
{
	struct kase *k = (struct kase *)(size_t)c->everything.side[0];

	if (!k)
		return;
	json_free((struct json *)(size_t)k->config);
	json_free(k->parts[0].rest);
	free(k->parts);
	free(k);
	for (size_t j = 0; j < 2; j++)
		free(c->everything.name[j]);
}
