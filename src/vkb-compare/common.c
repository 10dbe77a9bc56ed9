#include "common.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "part.h"

#include <math.h>
#include <stdlib.h>

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

void
common_add(struct comparison *c, const struct row *like,
    const struct model_metric *m, size_t cases)
{
	struct row row = {.pair = &c->everything,
	    .name = mem_str(like->name),
	    .metric = like->metric,
	    .gate = true,
	    .primary = like->primary,
	    .common = true,
	    .margin = like->margin,
	    .margin_sign = like->margin_sign,
	    .margin_from = like->margin_from,
	    .waiver = like->waiver,
	    .visible = NAN,
	    .minutes = NAN,
	    .model = {.n = {cases, cases},
		.change = m->moved,
		.own = m->moved_error,
		.error = m->moved_error,
		.least = m->common,
		.shared = 1,
		.down = m->down,
		.up = m->up}};

	row.facts = verdict_start(NULL, 0, NULL, 0);
	row.facts.m = row.facts.n = cases;
	row.facts.median[0] = 1;
	row.facts.median[1] = exp(m->moved);
	verdict_take(&row.facts, &row.model, true);
	if (!c->everything.side[0])
		make_everything(c);
	c->commons = mem_resize(c->commons, c->ncommons + 1, sizeof row);
	c->commons[c->ncommons++] = row;
}

void
common_append(struct comparison *c)
{
	for (size_t i = 0; i < c->ncommons; i++) {
		c->rows = mem_grow(c->rows, c->nrows, &c->cap, sizeof *c->rows);
		c->rows[c->nrows++] = c->commons[i];
	}
	free(c->commons);
	c->commons = NULL;
	c->ncommons = 0;
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
