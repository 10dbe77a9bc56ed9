#include "rules.h"
#include "clock.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#define DAY 86400.

const char *const rules_names[] = {
    "none", "in_progress", "complete", "failed", NULL};

enum rules_status
rules_find_status(const char *name)
{
	enum rules_status i = RULES_FAILED;

	while (i && (!name || strcmp(rules_names[i], name) != 0))
		i--;
	return i;
}

void
rules_copy_row(struct row *to, const struct row *from)
{
	*to = *from;
	to->sha = mem_str(from->sha);
	to->config_hash = mem_str(from->config_hash);
	to->architecture = mem_str(from->architecture);
	to->owner = mem_str(from->owner);
	to->reason = mem_str(from->reason);
}

void
rules_free_row(struct row *r)
{
	free(r->sha);
	free(r->config_hash);
	free(r->architecture);
	free(r->owner);
	free(r->reason);
	*r = (struct row){0};
}

double
rules_lease_end(const struct row *r)
{
	return r->lease_until > 0 ? r->lease_until : r->updated + DAY;
}

static bool
is_mine(const struct rules *u, const struct row *r)
{
	return r->owner && strcmp(r->owner, u->owner) == 0;
}

static bool
is_held(const struct rules *u, const struct row *r)
{
	return r->status == RULES_IN_PROGRESS && rules_lease_end(r) > u->now;
}

enum rules_chance
rules_find_chance(const struct rules *u, const struct row *r)
{
	switch (r->status) {
	case RULES_NONE:
		return RULES_FREE;
	case RULES_IN_PROGRESS:
		if (u->resume && is_mine(u, r))
			return RULES_MINE;
		if (is_held(u, r))
			return RULES_TAKEN;
		return r->attempts < u->attempts ? RULES_FREE : RULES_LATE;
	case RULES_FAILED:
		return u->again || r->attempts < u->attempts ? RULES_FREE
							     : RULES_TAKEN;
	case RULES_COMPLETE:
		break;
	}
	return u->again ? RULES_FREE : RULES_TAKEN;
}

static char *
describe_holder(const struct row *r)
{
	char until[CLOCK_ISO];

	clock_iso_of(until, rules_lease_end(r));
	return r->owner ? mem_printf("'%s' holds it until %s", r->owner, until)
			: mem_printf("another tool holds it until %s", until);
}

static void
set_owner(const struct rules *u, struct row *r)
{
	free(r->owner);
	r->owner = mem_str(u->owner);
}

static void
set_status(const struct rules *u, struct row *r, enum rules_status to)
{
	if (!r->created)
		r->created = u->now;
	r->status = to;
	r->updated = u->now;
	r->lease_until = to == RULES_IN_PROGRESS ? u->now + u->lease : 0;
	free(r->reason);
	r->reason = NULL;
}

char *
rules_claim(const struct rules *u, struct row *r)
{
	enum rules_chance chance = rules_find_chance(u, r);

	if (chance == RULES_TAKEN && r->status == RULES_IN_PROGRESS)
		return describe_holder(r);
	if (chance == RULES_TAKEN)
		return mem_printf("it is %s", rules_names[r->status]);
	set_owner(u, r);
	set_status(u, r, RULES_IN_PROGRESS);
	if (chance != RULES_MINE)
		r->attempts++;
	return NULL;
}

static char *
describe_lost_lease(const struct row *r)
{
	return mem_printf("the lease is lost: it is %s, owned by %s%s%s",
	    rules_names[r->status], r->owner ? "'" : "another tool",
	    r->owner ? r->owner : "", r->owner ? "'" : "");
}

/* Marks the row complete or failed. Returns NULL, or the reason why not. */
static char *
finish_row(const struct rules *u, struct row *r, enum rules_status to,
    const char *reason)
{
	if (r->owner && !is_mine(u, r))
		return describe_lost_lease(r);
	if (r->status == RULES_COMPLETE && to != RULES_COMPLETE && !u->again)
		return mem_str("it is complete");
	if (r->status == to && to == RULES_COMPLETE)
		return NULL;
	if (r->status == RULES_NONE)
		r->attempts = 1;
	set_owner(u, r);
	set_status(u, r, to);
	r->reason = mem_str(reason);
	return NULL;
}

char *
rules_mark(const struct rules *u, struct row *r, enum rules_status to,
    const char *reason)
{
	struct rules same = *u;

	if (to != RULES_IN_PROGRESS)
		return finish_row(u, r, to, reason);
	same.resume = true;
	return rules_claim(&same, r);
}

char *
rules_prolong(const struct rules *u, struct row *r)
{
	if (r->status == RULES_NONE)
		return mem_str("the lease is lost: the claim is gone");
	if (!is_mine(u, r))
		return describe_lost_lease(r);
	if (r->status != RULES_IN_PROGRESS)
		return mem_printf("it is %s", rules_names[r->status]);
	r->lease_until = u->now + u->lease;
	r->updated = u->now;
	return NULL;
}

bool
rules_may_drop(const struct rules *u, const struct row *r)
{
	return r->status == RULES_IN_PROGRESS &&
	    (is_mine(u, r) || !is_held(u, r));
}

static size_t
find_bisect_place(const enum order_state *v, size_t n, enum order_state wanted)
{
	size_t best = ORDER_END, most = 0, at;

	if (n && v[0] == wanted)
		return 0;
	for (size_t from = 0, to; from < n; from = to + 1) {
		for (to = from; to < n && v[to] != ORDER_KNOWN; to++)
			;
		if (to - from <= most)
			continue;
		/* Find the wanted one that is nearest to the middle. */
		for (size_t k = 0; k < 2 * (to - from); k++) {
			at = from + (to - from - 1) / 2;
			at = k % 2 ? at - (k + 1) / 2 : at + k / 2;
			if (at >= from && at < to && v[at] == wanted) {
				best = at;
				most = to - from;
				break;
			}
		}
	}
	return best;
}

static size_t
find_next_place(
    enum order o, const enum order_state *v, size_t n, enum order_state wanted)
{
	if (o == ORDER_BISECT)
		return find_bisect_place(v, n, wanted);
	for (size_t i = 0; i < n; i++) {
		size_t at = o == ORDER_NEWEST ? i : n - 1 - i;

		if (v[at] == wanted)
			return at;
	}
	return ORDER_END;
}

size_t
rules_next(enum order o, const enum order_state *v, size_t n)
{
	size_t at = find_next_place(o, v, n, ORDER_FREE);

	return at == ORDER_END ? find_next_place(o, v, n, ORDER_LATE) : at;
}
