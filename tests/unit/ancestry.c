/* vkb-detect: the line of commits, against a slow and obvious choice. */
#include "tap.h"

#include "json.h"
#include "rng.h"
#include "ancestry.h"

#include <stdlib.h>

enum { COMMITS = 16, ROUNDS = 400 };

struct commit {
	char id[41], time[24]; /* time "": unknown */
	int parent;            /* -1: a root */
	bool measured;
};

/* A commit record; a record that is not whole has only the id. */
static void
add(struct ancestry *a, const struct commit *all, int i, bool part)
{
	char text[300], parents[64] = "", time[64] = "";

	if (all[i].parent >= 0)
		snprintf(parents, sizeof parents, ",\"parents\":[\"%s\"]",
		    all[all[i].parent].id);
	if (*all[i].time)
		snprintf(time, sizeof time, ",\"time\":\"%s\"", all[i].time);
	snprintf(text, sizeof text,
	    "{\"type\":\"commit\",\"commit\":\"%s\"%s%s}", all[i].id,
	    part ? "" : parents, part ? "" : time);
	ancestry_add(a, json_parse(text, strlen(text), NULL, NULL));
}

static void
invent(struct commit *all, struct rng *rng)
{
	for (int i = 0; i < COMMITS; i++) {
		struct commit *c = &all[i];

		snprintf(c->id, sizeof c->id, "%016llx%024x",
		    (unsigned long long)rng_next(rng), 0);
		c->parent = i - 1;
		if (rng_below(rng, 4) == 0)
			c->parent = (int)rng_below(rng, (uint64_t)i + 1) - 1;
		*c->time = '\0';
		if (rng_below(rng, 5))
			snprintf(c->time, sizeof c->time,
			    "2026-01-%02dT08:00:00Z",
			    1 + (int)rng_below(rng, 9));
		c->measured = rng_below(rng, 3) == 0;
	}
}

static bool
is_parent(const struct commit *all, int i)
{
	for (int k = 0; k < COMMITS; k++)
		if (all[k].parent == i)
			return true;
	return false;
}

static int
count_measured(const struct commit *all, int i)
{
	int n = 0;

	for (; i >= 0; i = all[i].parent)
		n += all[i].measured;
	return n;
}

/* The last commit of the line; -1 if there is none. */
static int
last_of_line(const struct commit *all)
{
	int best = -1;

	for (int i = 0; i < COMMITS; i++) {
		int c;

		if (is_parent(all, i) || count_measured(all, i) == 0)
			continue;
		if (best < 0) {
			best = i;
			continue;
		}
		c = count_measured(all, i) - count_measured(all, best);
		c = c ? c : strcmp(all[i].time, all[best].time);
		c = c ? c : strcmp(all[i].id, all[best].id);
		if (c > 0)
			best = i;
	}
	return best;
}

/* Where 'time' belongs on a line of n commits. */
static double
place_by_time(
    const struct commit *all, const int *line, int n, const char *time)
{
	if (!*time || n == 0)
		return -1;
	for (int k = n - 1; k >= 0; k--)
		if (*all[line[k]].time && strcmp(all[line[k]].time, time) <= 0)
			return k + .5;
	return *all[line[0]].time ? -.5 : -1;
}

static bool
one_round(struct rng *rng)
{
	struct commit all[COMMITS];
	struct ancestry *a = ancestry_new();
	const char *measured[COMMITS + 1];
	char brief[COMMITS][9];
	int line[COMMITS], where[COMMITS], n = 0, k = 0;
	size_t nmeasured = 0;
	double at;
	bool good;

	invent(all, rng);
	for (int i = 0; i < COMMITS; i++)
		if (rng_below(rng, 4) == 0)
			add(a, all, i, true);
	for (int i = COMMITS; i-- > 0;)
		add(a, all, i, false);
	measured[nmeasured++] = NULL;
	for (int i = 0; i < COMMITS; i++) {
		snprintf(brief[i], sizeof brief[i], "%.8s", all[i].id);
		where[i] = -1;
		if (all[i].measured)
			measured[nmeasured++] = i % 2 ? brief[i] : all[i].id;
	}
	for (int i = last_of_line(all); i >= 0; i = all[i].parent)
		n++;
	for (int i = last_of_line(all); i >= 0; i = all[i].parent) {
		line[n - ++k] = i;
		where[i] = n - k;
	}
	ancestry_choose(a, measured, nmeasured);
	good = ancestry_length(a) == (size_t)n;
	for (k = 0; good && k < n; k++) {
		const char *time = ancestry_time(a, (size_t)k);

		good =
		    strcmp(ancestry_id(a, (size_t)k), all[line[k]].id) == 0 &&
		    strcmp(time ? time : "", all[line[k]].time) == 0;
	}
	for (int i = 0; good && i < COMMITS; i++) {
		enum ancestry_place got =
		    ancestry_find(a, all[i].id, NULL, &at);
		int up = i;

		while (up >= 0 && where[up] < 0)
			up = all[up].parent;
		if (where[i] >= 0)
			good = got == ANCESTRY_LINE && at == where[i];
		else if (up >= 0)
			good = got == ANCESTRY_SIDE && at == -1;
		else
			good = got == ANCESTRY_UNKNOWN &&
			    at == place_by_time(all, line, n, all[i].time);
	}
	for (int day = 0; good && day < 11; day++) {
		char time[32];

		snprintf(time, sizeof time, "2026-01-%02dT08:00:00Z", day);
		good =
		    ancestry_find(a, "0123", time, &at) == ANCESTRY_UNKNOWN &&
		    at == place_by_time(all, line, n, time);
	}
	ancestry_free(a);
	return good;
}

/* A line of these commits, each with the next one as parent; the first is
 * measured. */
static struct ancestry *
chain(const char *const *ids, int n)
{
	struct commit all[8] = {0};
	struct ancestry *a = ancestry_new();

	for (int i = 0; i < n; i++) {
		snprintf(all[i].id, sizeof all[i].id, "%s", ids[i]);
		all[i].parent = i + 1 < n ? i + 1 : -1;
	}
	for (int i = 0; i < n; i++)
		add(a, all, i, false);
	ancestry_choose(a, ids, 1);
	return a;
}

static bool
is_at(const struct ancestry *a, const char *id, double want)
{
	double at;

	return (ancestry_find(a, id, NULL, &at) == ANCESTRY_LINE) ==
	    (want >= 0) &&
	    at == want;
}

static void
starts_of_ids(void)
{
	static const char *const ids[] = {"abcd1000", "abcd2000", "1234567",
	    "654321", "beefbee", "beefbeef", "ffff0000"};
	struct ancestry *a = chain(ids, 7);

	tap_ok(ancestry_length(a) == 7, "a chain of seven is the line");
	tap_ok(is_at(a, "abcd1000", 6) && is_at(a, "ffff0000", 0),
	    "the root is commit 0 of the line");
	tap_ok(
	    is_at(a, "abcd1", 6) && is_at(a, "abcd2", 5) && is_at(a, "ffff", 0),
	    "four characters that one commit alone starts with are enough");
	tap_ok(is_at(a, "abcd", -1),
	    "an abbreviation of two commits finds neither");
	tap_ok(is_at(a, "fff", -1), "three characters are too few");
	tap_ok(is_at(a, NULL, -1), "without an id no commit is found");
	tap_ok(is_at(a, "12345678", 4),
	    "a longer id finds a record whose id has seven characters");
	tap_ok(is_at(a, "6543210", -1), "six characters do not find it");
	tap_ok(is_at(a, "beefbee", 2) && is_at(a, "beefbeef", 1),
	    "the whole id comes before the start of another");
	tap_ok(is_at(a, "gggg", -1) && is_at(a, "0000", -1),
	    "ids before the first and behind the last commit are not found");
	ancestry_free(a);
}

/* Parents that go round in a ring, which git never writes. */
static void
rings(void)
{
	struct commit all[3] = {{.id = "aaaa0000", .parent = 1},
	    {.id = "bbbb0000", .parent = 0}, {.id = "cccc0000", .parent = 0}};
	const char *measured[] = {"aaaa0000"};
	struct ancestry *a = ancestry_new();

	add(a, all, 0, false);
	add(a, all, 1, false);
	ancestry_choose(a, measured, 1);
	tap_ok(ancestry_length(a) == 0, "a ring has no end to begin at");
	ancestry_free(a);
	a = ancestry_new();
	for (int i = 0; i < 3; i++)
		add(a, all, i, false);
	ancestry_choose(a, measured, 1);
	tap_ok(ancestry_length(a) == 3 && is_at(a, "cccc0000", 2) &&
		is_at(a, "bbbb0000", 0),
	    "a way into a ring goes round it once");
	ancestry_free(a);
	a = ancestry_new();
	all[0].parent = 0;
	add(a, all, 0, false);
	ancestry_choose(a, measured, 1);
	tap_ok(ancestry_length(a) == 1 && is_at(a, "aaaa0000", 0),
	    "a commit that is its own parent has no parent");
	ancestry_free(a);
}

int
main(void)
{
	struct rng rng;
	int good = 0;

	rng_seed(&rng, 7, 0);
	for (int i = 0; i < ROUNDS; i++)
		good += one_round(&rng);
	tap_ok(good == ROUNDS,
	    "the line and the places of %d of %d invented histories are those "
	    "of a slow search",
	    good, ROUNDS);
	starts_of_ids();
	rings();
	return tap_done();
}
