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
common_add(struct comparison *c, const struct row *like, double change,
    struct moderate noise, bool assumed, size_t cases)
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
	    .session = like->session,
	    .session_from = like->session_from,
	    .p = NAN,
	    .level = JUDGE_ALPHA,
	    .level10 = 2 * JUDGE_ALPHA,
	    .visible = NAN,
	    .minutes = NAN,
	    .facts = {.m = cases,
		.n = cases,
		.median = {1, exp(change)},
		.cliff = NAN,
		.change = change,
		.se = sqrt(noise.var),
		.df = noise.df,
		.assumed_se = assumed}};

	if (!c->everything.side[0])
		make_everything(c);
	verdict_use_t(&row.facts, true, row.level, row.level10);
	row.facts.method = "t-sessions";
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
