#include "work.h"
#include "footprint.h"
#include "lineage.h"
#include "store.h"

#include "err.h"
#include "json.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

void
work_commits_add(
    struct commits *c, const char *sha, double time, struct json *rec)
{
	*MEM_ADD(c->v, c->n, c->cap) = (struct commit){mem_str(sha), time, rec};
}

void
work_commits_free(struct commits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].sha);
		json_free(c->v[i].rec);
	}
	free(c->v);
	*c = (struct commits){0};
}

static int
report_refusal(const char *sha, char *why)
{
	err_say("%s: %s", sha, why);
	free(why);
	return 1;
}

/* --- one row */

/* Makes the row, with id 0, of a commit that has none. */
static void
make_row(const struct work *w, const char *sha, double time, struct row *r)
{
	r->sha = mem_str(sha);
	r->time = time;
	r->config_hash = mem_str(w->config->hash);
	r->architecture = mem_str(w->architecture);
}

/*
 * Takes the row of the commit; if there is none, makes one. Returns 1, 0 if
 * another process has dropped it, -1 on error. Caller frees *r.
 */
static int
take_row(struct work *w, const char *sha, double time, struct row *r)
{
	const struct wanted wanted = {
	    .config = w->config, .architecture = w->architecture, .sha = sha};
	const struct store_ops *ops = w->store->ops;
	struct rowlist rows = {0};
	int rc = ops->read(w->store, &wanted, &rows);

	*r = (struct row){0};
	if (rc == 0 && rows.n) {
		*r = rows.v[0];
		rows.v[0] = (struct row){0};
		rc = ops->take(w->store, r, true);
	} else if (rc == 0) {
		make_row(w, sha, time, r);
		rc = 1;
	}
	store_rows_free(&rows);
	return rc;
}

/* Stores the row. Returns 1, 0 if another process was faster, -1 on error. */
static int
put_row(struct work *w, const struct row *r)
{
	const struct store_ops *ops = w->store->ops;

	if (!r->id)
		return ops->insert(w->store, w->config, r);
	return ops->update(w->store, r) < 0 ? -1 : 1;
}

/* --- the next commits */

/*
 * Sets the state of each commit that has a row. row_at[i] is 1 + the index of
 * the row of commit i under this configuration, or 0.
 */
static int
mark_known_commits(struct work *w, const struct lineage *h,
    enum order_state *states, struct rowlist *rows, size_t *row_at)
{
	const struct wanted wanted = {.config = w->config,
	    .covered = w->subset,
	    .architecture = w->architecture};

	if (w->store->ops->read(w->store, &wanted, rows) < 0)
		return -1;
	for (size_t i = 0; i < rows->n; i++) {
		size_t at = lineage_find_index(h, rows->v[i].sha);
		enum rules_chance chance;

		if (at == h->n)
			continue;
		chance = rules_find_chance(&w->rules, &rows->v[i]);
		/* It is complete under another configuration that covers
		 * this one. */
		if (w->config && rows->v[i].config_hash &&
		    strcmp(rows->v[i].config_hash, w->config->hash) != 0)
			chance = w->rules.again ? RULES_FREE : RULES_TAKEN;
		else if (w->config)
			row_at[at] = i + 1;
		if (chance == RULES_TAKEN)
			states[at] = ORDER_KNOWN;
		else if (chance == RULES_LATE && states[at] == ORDER_FREE)
			states[at] = ORDER_LATE;
	}
	return 0;
}

/* Returns 1 if the commit is claimed, 0 if not, -1 on error. */
static int
claim_one(struct work *w, const char *sha, double time, struct row *known)
{
	struct row new = {0}, *r = known ? known : &new;
	char *why;
	int rc = 1;

	if (known)
		rc = w->store->ops->take(w->store, known, false);
	else
		make_row(w, sha, time, &new);
	if (rc > 0) {
		why = rules_claim(&w->rules, r);
		rc = why ? 0 : put_row(w, r);
		free(why);
	}
	rules_free_row(&new);
	return rc;
}

static int
add_found(struct work *w, const struct lineage *h, size_t at, struct row *known,
    bool claim, struct commits *out)
{
	double time;
	struct json *rec =
	    lineage_make_record(h->repo, h->ids[at], h->branch, &time);
	int rc = rec ? 1 : -1;

	if (rc > 0 && claim)
		rc = claim_one(w, h->ids[at], time, known);
	if (rc > 0)
		work_commits_add(out, h->ids[at], time, rec);
	else
		json_free(rec);
	return rc < 0 ? -1 : 0;
}

int
work_find_next(struct work *w, const struct lineage *h, size_t most, bool claim,
    struct commits *out)
{
	enum order_state *states = mem_array(h->n + 1, sizeof *states);
	size_t *row_at = mem_array(h->n + 1, sizeof *row_at), at;
	struct rowlist rows = {0};
	int rc = mark_known_commits(w, h, states, &rows, row_at);

	/* Claims that the owner already holds come first. */
	for (at = 0; rc == 0 && w->rules.resume && at < h->n; at++) {
		struct row *r = row_at[at] ? &rows.v[row_at[at] - 1] : NULL;

		if (!r || rules_find_chance(&w->rules, r) != RULES_MINE)
			continue;
		states[at] = ORDER_KNOWN;
		if (out->n < most)
			rc = add_found(w, h, at, r, claim, out);
	}
	while (rc == 0 && out->n < most &&
	    (at = rules_next(w->order, states, h->n)) != ORDER_END) {
		states[at] = ORDER_KNOWN;
		rc = add_found(w, h, at,
		    row_at[at] ? &rows.v[row_at[at] - 1] : NULL, claim, out);
	}
	store_rows_free(&rows);
	free(states);
	free(row_at);
	return rc;
}

/* --- named commits */

int
work_change(struct work *w, const struct commits *c, enum rules_status to,
    const char *reason, struct commits *claimed)
{
	struct row r;
	char *why;
	int rc = 0, no = 0;

	for (size_t i = 0; rc >= 0 && i < c->n; i++) {
		const struct commit *x = &c->v[i];

		rc = take_row(w, x->sha, x->time, &r);
		why = rc <= 0 ? NULL
		    : claimed ? rules_claim(&w->rules, &r)
			      : rules_mark(&w->rules, &r, to, reason);
		if (rc > 0 && !why && !claimed && !r.id && !r.time)
			rc = err_fail("%s: it is neither in the table nor in a "
				      "repository given with '--repo'",
			    r.sha);
		if (rc > 0 && !why)
			rc = put_row(w, &r);
		if (rc == 0)
			why = mem_str("another process was faster");
		if (why)
			no = report_refusal(x->sha, why);
		else if (rc > 0 && claimed)
			work_commits_add(
			    claimed, x->sha, x->time, json_dup(x->rec));
		rules_free_row(&r);
	}
	return rc < 0 ? -1 : no;
}

/*
 * Prolongs the owner's claims among the wanted rows. A named commit can have
 * rows of other owners too: if none is prolonged, the first of them says why.
 */
static int
prolong_claims(struct work *w, const struct wanted *wanted)
{
	const struct store_ops *ops = w->store->ops;
	struct row none = {0};
	struct rowlist rows = {0};
	char *why = NULL, *first = NULL;
	bool done = false;
	int rc = ops->read(w->store, wanted, &rows);

	for (size_t i = 0; rc >= 0 && i < rows.n; i++) {
		rc = ops->take(w->store, &rows.v[i], true);
		if (rc <= 0)
			continue;
		why = rules_prolong(&w->rules, &rows.v[i]);
		if (!why) {
			rc = ops->update(w->store, &rows.v[i]);
			done = true;
		}
		if (!first)
			first = why;
		else
			free(why);
	}
	store_rows_free(&rows);
	if (rc >= 0 && !done && wanted->sha)
		rc = report_refusal(wanted->sha,
		    first ? mem_str(first) : rules_prolong(&w->rules, &none));
	else if (rc >= 0 && !done)
		rc = report_refusal(
		    w->rules.owner, mem_str("this owner holds no claim"));
	else if (rc > 0)
		rc = 0;
	free(first);
	return rc;
}

int
work_prolong(struct work *w, const struct commits *c)
{
	struct wanted wanted = {
	    .config = w->config, .architecture = w->architecture};
	int rc = 0, no = 0;

	if (!c->n) {
		wanted.owner = w->rules.owner;
		wanted.status = RULES_IN_PROGRESS;
		return prolong_claims(w, &wanted);
	}
	for (size_t i = 0; rc >= 0 && i < c->n; i++) {
		wanted.sha = c->v[i].sha;
		no |= rc = prolong_claims(w, &wanted);
	}
	return rc < 0 ? -1 : no;
}

int
work_drop_claims(struct work *w, size_t *n)
{
	const struct wanted wanted = {.config = w->config,
	    .architecture = w->architecture,
	    .status = RULES_IN_PROGRESS};
	const struct store_ops *ops = w->store->ops;
	struct rowlist rows = {0};
	int rc = ops->read(w->store, &wanted, &rows);

	*n = 0;
	for (size_t i = 0; rc >= 0 && i < rows.n; i++) {
		rc = ops->take(w->store, &rows.v[i], false);
		if (rc <= 0 || !rules_may_drop(&w->rules, &rows.v[i]))
			continue;
		rc = ops->drop(w->store, &rows.v[i]);
		*n += rc == 0;
	}
	store_rows_free(&rows);
	return rc < 0 ? -1 : 0;
}
