#include "headline.h"
#include "forest.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "verdict.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct verdict_counts {
	size_t count[MODEL_VERDICTS], certain[MODEL_VERDICTS];
	const struct delta *first[MODEL_VERDICTS]; /* changed most */
	size_t rows, waived, bound;
	double runs;     /* most that an unclear result needs */
	double minutes;  /* the time these take */
	size_t open;     /* results that more runs would settle */
	size_t hopeless; /* results that would take too many runs */
};

static void
append_sentence(char ***v, size_t *n, size_t *cap, struct str *s)
{
	if (!s->len)
		return;
	*v = mem_grow(*v, *n, cap, sizeof **v);
	(*v)[(*n)++] = mem_str(s->s);
	str_clear(s);
}

static void
add_fact(struct headline *h, struct str *s)
{
	append_sentence(&h->facts, &h->nfacts, &h->fcap, s);
}

static void
add_advice(struct headline *h, struct str *s)
{
	append_sentence(&h->next, &h->nnext, &h->ncap, s);
}

static bool
is_of_pair(
    const struct model *m, const struct headline *h, const struct delta *d)
{
	return &m->subjects[d->base] == h->base &&
	    &m->subjects[d->contender] == h->contender;
}

static bool
has_note(const struct json *rec, const char *note)
{
	const struct json *j = json_first(json_get(rec, "notes"));

	for (; j; j = json_next(j))
		if (json_str(j) && str_starts(json_str(j), note))
			return true;
	return false;
}

static void
count_delta(struct verdict_counts *t, const struct delta *d)
{
	double runs = json_num(json_path(d->rec, "needed.runs"), 0), have;
	const struct json *n = json_get(d->rec, "n");

	if (!d->gate)
		return;
	if (d->waived) {
		t->waived++;
		return;
	}
	t->rows++;
	if (!t->count[d->verdict]++)
		t->first[d->verdict] = d;
	t->certain[d->verdict] += json_get_bool(d->rec, "certain", false);
	t->bound += has_note(d->rec, "client-bound");
	have = json_num(json_at(n, 0), 0);
	have = fmin(have, json_num(json_at(n, 1), have));
	if (verdict_is_hopeless(runs, have))
		t->hopeless++;
	else if (runs > 0) {
		t->open++;
		t->runs = fmax(t->runs, runs);
		t->minutes = fmax(t->minutes,
		    json_num(json_path(d->rec, "needed.minutes"), 0));
	}
}

/* Adds "3 of 9 results are worse; largest change: SET rps: -2.1%". */
static void
describe_changes(struct headline *h, const struct model *m,
    const struct verdict_counts *t, enum model_verdict v, const char *word)
{
	const struct delta *d = t->first[v];
	struct str s = {0};

	if (!d)
		return;
	str_printf(&s,
	    "%zu of %zu result%s %s %s; largest change: %s %s: ", t->count[v],
	    t->rows, num_plural((double)t->rows),
	    t->count[v] == 1 ? "is" : "are", word, m->cases[d->kase].name,
	    d->metric);
	forest_change(&s, d);
	if (t->certain[v] == t->count[v])
		str_add(&s,
		    t->count[v] == 1 ? ". It is certain"
				     : ". All of them are certain");
	else if (t->certain[v])
		str_printf(&s, ". %zu of them %s certain", t->certain[v],
		    t->certain[v] == 1 ? "is" : "are");
	if (t->certain[v])
		str_add(&s, ": the whole 90% interval lies beyond the margin");
	str_addc(&s, '.');
	add_fact(h, &s);
	str_free(&s);
}

static void
describe_rest(struct headline *h, const struct verdict_counts *t)
{
	size_t same = t->count[MODEL_EQUIVALENT];
	size_t open = t->count[MODEL_INCONCLUSIVE];
	size_t few = t->count[MODEL_INSUFFICIENT];
	struct str s = {0};

	if (same)
		str_printf(&s,
		    "%zu of %zu result%s did not change by more than the "
		    "margin.",
		    same, t->rows, num_plural((double)t->rows));
	add_fact(h, &s);
	if (open)
		str_printf(&s,
		    "%zu result%s unclear: noise may hide a "
		    "change.",
		    open, open == 1 ? " is" : "s are");
	add_fact(h, &s);
	if (few)
		str_printf(&s, "%zu result%s too few runs to be judged.", few,
		    few == 1 ? " has" : "s have");
	add_fact(h, &s);
	if (t->waived)
		str_printf(&s, "%zu result%s waived by the policy.", t->waived,
		    t->waived == 1 ? " is" : "s are");
	add_fact(h, &s);
	str_free(&s);
}

static const struct json *
find_comparison(const struct model *m, const struct headline *h)
{
	for (size_t i = 0; i < m->comparisons.n; i++) {
		const struct json *rec = m->comparisons.v[i];

		if (model_subject(m, json_get(rec, "baseline")) == h->base &&
		    model_subject(m, json_get(rec, "contender")) ==
			h->contender)
			return rec;
	}
	return NULL;
}

static void
describe_context(struct headline *h, const struct json *rec)
{
	size_t env = json_len(json_get(rec, "env"));
	size_t one_sided = json_len(json_get(rec, "unmatched"));
	size_t failed = json_len(json_get(rec, "failed"));
	struct str s = {0};

	if (json_get_num(rec, "tests", 0) > 0)
		str_printf(&s,
		    "The p-values are corrected for %.0f test%s (%s, level "
		    "%.3g).",
		    json_get_num(rec, "tests", 0),
		    num_plural(json_get_num(rec, "tests", 0)),
		    strcmp(json_get_str(rec, "correction"), "holm") == 0
			? "Holm"
			: "Benjamini and Hochberg",
		    json_get_num(rec, "alpha", .05));
	add_fact(h, &s);
	if (env)
		str_printf(&s,
		    "The two sides differ in %zu propert%s of the machine: if "
		    "these matter, measure both sides again on one machine.",
		    env, env == 1 ? "y" : "ies");
	add_advice(h, &s);
	if (failed)
		str_printf(&s, "%zu case%s failed runs: see why below.", failed,
		    failed == 1 ? " has" : "s have");
	add_advice(h, &s);
	if (one_sided)
		str_printf(&s, "%zu case%s on one side only.", one_sided,
		    one_sided == 1 ? " is" : "s are");
	add_advice(h, &s);
	str_free(&s);
}

/* A changed canary invalidates the whole comparison, as in vkb-compare. */
static void
check_canaries(struct headline *h, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "canary"));
	struct str s = {0};

	for (; j; j = json_next(j)) {
		const char *name = json_get_str(j, "case");
		const char *metric = json_get_str(j, "metric");
		const char *verdict = json_get_str(j, "verdict");

		if (json_get_bool(j, "ok", false))
			continue;
		str_printf(&s,
		    "Canary %s: %s %s: these results are not reliable.",
		    name ? name : "-", metric ? metric : "it",
		    !metric ? "is missing"
			: verdict && strcmp(verdict, "insufficient") == 0
			? "has too few runs"
			: "changed");
		add_fact(h, &s);
		free(h->what);
		h->what = mem_str("Not reliable");
		h->outcome = MODEL_INSUFFICIENT;
	}
	str_free(&s);
}

/* Adds metrics that only one side has, and policy rules without effect. */
static void
describe_gaps(struct headline *h, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "lonely"));
	struct str s = {0};

	for (; j; j = json_next(j)) {
		const char *side = json_get_str(j, "side");
		const char *metric = json_get_str(j, "metric");
		double n = json_get_num(j, "cases", 0);

		if (side && metric)
			str_printf(&s, "Only the %s has %s (%.0f case%s).",
			    side, metric, n, num_plural(n));
		add_advice(h, &s);
	}
	for (j = json_first(json_get(rec, "waivers")); j; j = json_next(j)) {
		const char *rule = json_get_str(j, "rule");
		const char *what = json_get_str(j, "what");

		if (rule && what)
			str_printf(&s, "The policy's rule %s: %s.", rule, what);
		add_advice(h, &s);
	}
	str_free(&s);
}

void
headline_left_out(struct str *s, const struct model *m)
{
	str_add(s,
	    m->unread
		? "Some records could not be read; the report shows the others."
		: "");
	if (m->doubled)
		str_printf(s,
		    "%s%zu summar%s left out: another of the same case and "
		    "subject has as many runs or more.",
		    m->unread ? " " : "", m->doubled,
		    m->doubled == 1 ? "y is" : "ies are");
}

static void
advise_next(struct headline *h, const struct verdict_counts *t)
{
	struct str s = {0};
	char buf[NUM_BUF];

	if (t->first[MODEL_REGRESSION])
		str_add(&s,
		    "Find the commit with vkb-bisect, and the functions with "
		    "vkb-why.");
	add_advice(h, &s);
	if (t->open) {
		str_printf(&s, "Make up to %.0f runs on each side", t->runs);
		if (t->minutes > 0)
			str_printf(&s, " (about %s for each case)",
			    num_seconds(buf, 60 * t->minutes));
		str_printf(&s, " to decide %zu unclear result%s.", t->open,
		    num_plural((double)t->open));
	} else if (t->count[MODEL_INSUFFICIENT])
		str_add(&s, "Make at least 4 runs of each side.");
	add_advice(h, &s);
	if (t->hopeless)
		str_printf(&s,
		    "This machine is too noisy to tell for %zu result%s: more "
		    "than ten times as many runs would be needed. Find the "
		    "cause with vkb-env --check.",
		    t->hopeless, num_plural((double)t->hopeless));
	add_advice(h, &s);
	if (t->bound)
		str_printf(&s,
		    "The load client was the bottleneck for %zu result%s, "
		    "which say little about the server; give the client more "
		    "CPUs.",
		    t->bound, num_plural((double)t->bound));
	add_advice(h, &s);
	str_free(&s);
}

static void
describe_pair(struct headline *h, const struct model *m)
{
	static const char *const outcomes[MODEL_VERDICTS + 1] = {"Worse",
	    "Better", "Different", "No slowdown shown", "Too few runs",
	    "No change", "Nothing was judged"};
	const struct json *all = find_comparison(m, h);
	struct verdict_counts t = {0};

	for (size_t i = 0; i < m->ndeltas; i++)
		if (is_of_pair(m, h, &m->deltas[i]))
			count_delta(&t, &m->deltas[i]);
	h->outcome = MODEL_VERDICTS;
	for (size_t v = MODEL_VERDICTS; v-- > 0;)
		if (t.count[v])
			h->outcome = (enum model_verdict)v;
	h->what = mem_str(h->outcome == MODEL_VERDICTS && t.waived
		? "Worse, but waived"
		: outcomes[h->outcome]);
	check_canaries(h, all);
	describe_changes(h, m, &t, MODEL_REGRESSION, "worse");
	describe_changes(h, m, &t, MODEL_IMPROVEMENT, "better");
	describe_changes(h, m, &t, MODEL_DIFFERENT, "different");
	describe_rest(h, &t);
	describe_context(h, all);
	describe_gaps(h, all);
	advise_next(h, &t);
}

/* Describes records without a comparison: runs, changes of a history. */
static void
describe_history(struct headline *h, const struct model *m)
{
	size_t worse = 0, spikes = 0, levels;
	struct str s = {0};

	h->outcome = MODEL_VERDICTS;
	for (size_t i = 0; i < m->nchanges; i++) {
		spikes += strcmp(m->changes[i].kind, "spike") == 0;
		worse += strcmp(m->changes[i].kind, "regression") == 0 &&
		    !json_get(m->changes[i].rec, "waiver");
	}
	levels = m->nchanges - spikes;
	if (m->nchanges) {
		str_printf(&s, "%zu change%s in the history, %zu for the worse",
		    levels, num_plural((double)levels), worse);
		if (spikes)
			str_printf(&s, "; %zu spike%s that went away", spikes,
			    num_plural((double)spikes));
		h->what = mem_str(s.s);
		h->outcome = worse ? MODEL_REGRESSION : MODEL_VERDICTS;
		str_clear(&s);
	} else
		h->what = mem_str("Nothing was compared");
	str_printf(&s, "%.0f run%s of %zu case%s and %zu subject%s", m->runs,
	    num_plural(m->runs), m->ncases, num_plural((double)m->ncases),
	    m->nsubjects, num_plural((double)m->nsubjects));
	if (m->failed > 0)
		str_printf(&s, "; %.0f run%s failed", m->failed,
		    num_plural(m->failed));
	str_addc(&s, '.');
	add_fact(h, &s);
	if (!m->nchanges && m->nsubjects == 2)
		str_add(&s,
		    "To compare the subjects, add the output of vkb-compare "
		    "--format jsonl to the input.");
	else if (!m->nchanges && m->nsubjects > 2)
		str_add(&s,
		    "To find changes in a history, add the output of "
		    "vkb-detect --format jsonl to the input.");
	add_advice(h, &s);
	str_free(&s);
}

/* Adds the headline of a pair unless it is there. */
static struct headline *
add_pair(struct headline *v, size_t *n, size_t *cap, const struct model *m,
    const struct subject *base, const struct subject *contender)
{
	for (size_t k = 0; k < *n; k++)
		if (v[k].base == base && v[k].contender == contender)
			return v;
	v = mem_grow(v, *n, cap, sizeof *v);
	v[*n] = (struct headline){.base = base, .contender = contender};
	describe_pair(&v[(*n)++], m);
	return v;
}

struct headline *
headlines_new(const struct model *m, size_t *n)
{
	struct headline *v = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t i = 0; i < m->ndeltas; i++)
		v = add_pair(v, n, &cap, m, &m->subjects[m->deltas[i].base],
		    &m->subjects[m->deltas[i].contender]);
	for (size_t i = 0; i < m->comparisons.n; i++) {
		const struct json *rec = m->comparisons.v[i];

		v = add_pair(v, n, &cap, m,
		    model_subject(m, json_get(rec, "baseline")),
		    model_subject(m, json_get(rec, "contender")));
	}
	if (!*n || m->nchanges) {
		v = mem_grow(v, *n, &cap, sizeof *v);
		v[*n] = (struct headline){0};
		describe_history(&v[(*n)++], m);
	}
	return v;
}

void
headlines_free(struct headline *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < v[i].nfacts; k++)
			free(v[i].facts[k]);
		for (size_t k = 0; k < v[i].nnext; k++)
			free(v[i].next[k]);
		free(v[i].facts);
		free(v[i].next);
		free(v[i].what);
	}
	free(v);
}
