/* vkb-trackcommits: the order of commits, and which commits a configuration
 * covers. */
#include "tap.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "vkb-trackcommits/footprint.h"
#include "vkb-trackcommits/rules.h"
#include "vkb-trackcommits/store.h"
#include "vkb-trackcommits/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks the order of commits whose 'states' are f(ree), l(ate) or k(nown). */
static void
order_is(enum order o, const char *states, const char *want)
{
	enum order_state v[32];
	char got[64] = "";
	size_t n = strlen(states), at;

	for (size_t i = 0; i < n; i++)
		v[i] = states[i] == 'f' ? ORDER_FREE
		    : states[i] == 'l'  ? ORDER_LATE
					: ORDER_KNOWN;
	while ((at = rules_next(o, v, n)) != ORDER_END) {
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s%zu",
		    *got ? " " : "", at);
		v[at] = ORDER_KNOWN;
	}
	tap_ok(strcmp(got, want) == 0, "order %d of '%s': '%s', wanted '%s'",
	    (int)o, states, got, want);
}

static struct footprint
of(const char *text)
{
	struct footprint f;

	footprint_make(&f, json_parse(text, strlen(text), NULL, NULL));
	return f;
}

static void
within(const char *a, const char *b, bool want)
{
	struct footprint x = of(a), y = of(b);

	tap_ok(footprint_is_within(&x, &y) == want, "%s %s %s", a,
	    want ? "within" : "not within", b);
	footprint_free(&x);
	footprint_free(&y);
}

static void
orders(void)
{
	order_is(ORDER_NEWEST, "", "");
	order_is(ORDER_OLDEST, "", "");
	order_is(ORDER_BISECT, "", "");
	order_is(ORDER_BISECT, "f", "0");
	order_is(ORDER_BISECT, "k", "");
	order_is(ORDER_NEWEST, "kflf", "1 3 2");
	order_is(ORDER_OLDEST, "kflf", "3 1 2");
	order_is(ORDER_BISECT, "kffffk", "2 3 1 4");
	order_is(ORDER_BISECT, "kffkfffffk", "6 1 4 7 2 5 8");
	order_is(ORDER_BISECT, "kflfk", "1 3 2");
	order_is(ORDER_BISECT, "lf", "1 0");
}

static void
footprints(void)
{
	const char *c = "{\"commands\":[\"SET\",\"GET\"],\"clients\":[1,2],"
			"\"warmup\":0}";
	struct footprint a = of("[1]"), b = of("{\"cluster_mode\":[]}");

	within(c, c, true);
	within(
	    "[{\"warmup\":0,\"clients\":[2],\"commands\":[\"GET\"]}]", c, true);
	within(c, "[{\"warmup\":0,\"clients\":[2],\"commands\":[\"GET\"]}]",
	    false);
	within("[{\"warmup\":1,\"clients\":[2],\"commands\":[\"GET\"]}]", c,
	    false);
	within("[{\"clients\":[2],\"commands\":[\"GET\"]}]", c, false);
	/* all combinations have to be there, not only all values */
	within(c,
	    "[{\"commands\":[\"SET\"],\"clients\":[1,2],\"warmup\":0},"
	    "{\"commands\":[\"GET\"],\"clients\":[1],\"warmup\":0}]",
	    false);
	within(c,
	    "[{\"commands\":[\"SET\"],\"clients\":[1,2],\"warmup\":0},"
	    "{\"commands\":[\"GET\"],\"clients\":[2,1],\"warmup\":0}]",
	    true);
	within("{\"test_groups\":[{\"g\":1}]}",
	    "{\"test_groups\":[{\"g\":2},{\"g\":1}]}", true);
	within("{\"keyspacelen\":[2],\"test_groups\":[{\"g\":1}]}",
	    "{\"keyspacelen\":[1,2],\"test_groups\":[{\"g\":1}]}", false);
	within("{\"scenarios\":[{\"id\":\"a\"}]}",
	    "{\"scenarios\":[{\"id\":\"a\"},{\"id\":\"b\"}]}", false);
	tap_ok(a.n == 0 && !footprint_is_within(&a, &a),
	    "a configuration that is not an object covers nothing");
	tap_ok(b.n == 0 && !footprint_is_within(&b, &b),
	    "an empty list covers nothing");
	footprint_free(&a);
	footprint_free(&b);
}

/* Rows of the Python tool have no owner and no lease. */
static void
rules(void)
{
	struct rules u = {
	    .now = 1000000, .lease = 60, .owner = "me", .attempts = 2};
	struct row r = {.status = RULES_IN_PROGRESS, .updated = 1000000 - 10};
	char *why;

	tap_ok(rules_find_chance(&u, &r) == RULES_TAKEN,
	    "a claim without a lease is valid");
	r.updated = u.now - 86400;
	tap_ok(rules_find_chance(&u, &r) == RULES_FREE,
	    "a claim without a lease ends after a day");
	why = rules_claim(&u, &r);
	tap_ok(
	    !why && r.attempts == 1 && r.lease_until == u.now + 60, "claimed");
	tap_ok(rules_find_chance(&u, &r) == RULES_TAKEN,
	    "a claim is valid for its owner, too");
	u.now = r.lease_until;
	tap_ok(rules_find_chance(&u, &r) == RULES_FREE,
	    "a claim ends exactly with its lease");
	r.attempts = 2;
	tap_ok(rules_find_chance(&u, &r) == RULES_LATE,
	    "a commit with too many claims comes after all others");
	r.status = RULES_FAILED;
	tap_ok(rules_find_chance(&u, &r) == RULES_TAKEN,
	    "a failed commit with too many claims is not claimed again");
	rules_free_row(&r);
}

/* Makes a claim as another process of the same owner, after the first query. */
static int
read_late_claim(
    struct store *s, const struct wanted *wanted, struct rowlist *rows)
{
	(void)s;
	if (wanted->owner)
		return 0;
	*MEM_ADD(rows->v, rows->n, rows->cap) = (struct row){.id = 1,
	    .sha = mem_str(wanted->sha),
	    .owner = mem_str("me"),
	    .status = RULES_IN_PROGRESS};
	return 0;
}

static int
take_late_claim(struct store *s, struct row *r, bool wait)
{
	(void)s;
	return r->id == 1 && wait;
}

static int
update_late_claim(struct store *s, const struct row *r)
{
	(void)s;
	return r->lease_until == 160 ? 0 : -1;
}

static void
late_claims(void)
{
	static const struct store_ops ops = {.read = read_late_claim,
	    .take = take_late_claim,
	    .update = update_late_claim};
	struct store store = {.ops = &ops};
	struct work w = {
	    .store = &store, .rules = {.now = 100, .lease = 60, .owner = "me"}};
	struct commits c = {0};

	work_commits_add(&c, "1234", 0, NULL);
	tap_ok(work_prolong(&w, &c) == 0 && !*err_last(),
	    "a claim that was made meanwhile is extended: '%s'", err_last());
	work_commits_free(&c);
}

int
main(void)
{
	orders();
	footprints();
	rules();
	late_claims();
	return tap_done();
}
