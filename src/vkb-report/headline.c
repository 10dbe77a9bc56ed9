#include "headline.h"
#include "forest.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "str.h"
#include "verdict.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 10 }; /* cases whose counts and times have a sentence */

struct verdict_counts {
	size_t count[MODEL_VERDICTS], certain[MODEL_VERDICTS];
	const struct delta *first[MODEL_VERDICTS]; /* changed most */
	size_t counted[MODEL_VERDICTS]; /* rows that are counts of work */
	size_t rows, waived, waived_counts, bound;
	double runs;     /* most that an unclear result needs */
	double minutes;  /* the time these take */
	size_t open;     /* results that more runs would decide */
	size_t hopeless; /* results that would take too many runs */
};

static void add_sentence(struct sentences *, const char *, ...)
    ERR_PRINTF(2, 3);

static void
add_sentence(struct sentences *l, const char *fmt, ...)
{
	va_list ap;

	l->v = mem_grow(l->v, l->n, &l->cap, sizeof *l->v);
	va_start(ap, fmt);
	if (vasprintf(&l->v[l->n++], fmt, ap) < 0)
		err_die("out of memory");
	va_end(ap);
}

static bool
is_of_pair(const struct headline *h, const struct delta *d)
{
	return d->base == h->base && d->contender == h->contender;
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
		t->waived_counts += metric_guess(d->metric).exact;
		return;
	}
	t->rows++;
	if (!t->count[d->verdict]++)
		t->first[d->verdict] = d;
	t->counted[d->verdict] += metric_guess(d->metric).exact;
	t->certain[d->verdict] += json_get_bool(d->rec, "certain", false);
	t->bound += has_note(d->rec, "client-bound");
	if (d->verdict == MODEL_INSUFFICIENT)
		return; /* more runs let it be judged, and may leave it open */
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
describe_changes(struct headline *h, const struct verdict_counts *t,
    enum model_verdict v, const char *word)
{
	const struct delta *d = t->first[v];
	struct str s = {0};

	if (!d)
		return;
	str_printf(&s,
	    "%zu of %zu result%s %s %s; largest change: ", t->count[v], t->rows,
	    num_plural((double)t->rows), t->count[v] == 1 ? "is" : "are", word);
	if (json_get_str(d->rec, "together")) {
		str_add(&s, json_get_str(d->rec, "together"));
	} else {
		str_printf(&s, "%s %s: ", d->kase->name, d->metric);
		forest_change(&s, d);
	}
	if (t->certain[v] == t->count[v])
		str_add(&s,
		    t->count[v] == 1 ? ". It is certain"
				     : ". All of them are certain");
	else if (t->certain[v])
		str_printf(&s, ". %zu of them %s certain", t->certain[v],
		    t->certain[v] == 1 ? "is" : "are");
	if (t->certain[v])
		str_add(&s, ": the whole 90% interval lies beyond the margin");
	add_sentence(&h->facts, "%s.", s.s);
	str_free(&s);
}

static void
describe_rest(struct headline *h, const struct verdict_counts *t)
{
	size_t same = t->count[MODEL_EQUIVALENT];
	size_t open = t->count[MODEL_INCONCLUSIVE];
	size_t few = t->count[MODEL_INSUFFICIENT];

	if (same)
		add_sentence(&h->facts,
		    "%zu of %zu result%s did not change by more than the "
		    "margin.",
		    same, t->rows, num_plural((double)t->rows));
	if (open)
		add_sentence(&h->facts,
		    "%zu result%s unclear: noise may hide a "
		    "change.",
		    open, open == 1 ? " is" : "s are");
	if (few)
		add_sentence(&h->facts,
		    "%zu result%s too few runs to be judged.", few,
		    few == 1 ? " has" : "s have");
	if (t->waived)
		add_sentence(&h->facts, "%zu result%s waived by the policy.",
		    t->waived, t->waived == 1 ? " is" : "s are");
}

/* What vkb-compare says of count and time of a case, of the first cases. */
static void
describe_together(struct headline *h, const struct model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->ndeltas; i++) {
		const struct delta *d = &m->deltas[i];
		const char *text = json_get_str(d->rec, "together");

		if (text && is_of_pair(h, d) && metric_guess(d->metric).exact &&
		    n++ < TOGETHER)
			add_sentence(&h->facts, "%s.", text);
	}
	if (n > TOGETHER)
		add_sentence(&h->facts,
		    "%zu more case%s: see the notes of their rows.",
		    n - TOGETHER, num_plural((double)(n - TOGETHER)));
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
describe_correction(struct headline *h, const struct json *rec)
{
	static const char *const families[][2] = {
	    {"families.primary.tests", "primary metrics"},
	    {"families.other.tests", "other metrics"},
	    {"families.common.tests", "all cases together"}};
	const char *by = json_get_str(rec, "correction");
	double n, all = json_get_num(rec, "tests", 0);
	struct str s = {0};

	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if ((n = json_num(json_path(rec, families[i][0]), 0)) > 0 &&
		    n < all)
			str_printf(&s, "%s%.0f of %s",
			    s.len ? ", " : ", each family by itself: ", n,
			    families[i][1]);
	if (all > 0)
		add_sentence(&h->facts,
		    "The p-values are corrected for %.0f test%s%s (%s, level "
		    "%.3g).",
		    all, num_plural(all), s.len ? s.s : "",
		    by && *by == 'h' ? "Holm" : "Benjamini and Hochberg",
		    json_get_num(rec, "alpha", .05));
	str_free(&s);
}

static void
describe_context(struct headline *h, const struct json *rec)
{
	size_t env = json_len(json_get(rec, "env"));
	size_t one_sided = json_len(json_get(rec, "unmatched"));
	size_t failed = json_len(json_get(rec, "failed"));

	describe_correction(h, rec);
	if (env)
		add_sentence(&h->advice,
		    "The two sides differ in %zu propert%s of the machine: if "
		    "these matter, measure both sides again on one machine.",
		    env, env == 1 ? "y" : "ies");
	if (failed)
		add_sentence(&h->advice,
		    "%zu case%s failed runs: see why below.", failed,
		    failed == 1 ? " has" : "s have");
	if (one_sided)
		add_sentence(&h->advice, "%zu case%s on one side only.",
		    one_sided, one_sided == 1 ? " is" : "s are");
}

/* What vkb-compare says if both sides are the same server comes first. */
static void
describe_same_server(struct headline *h, const struct json *rec)
{
	const char *text = json_get_str(rec, "same_server");

	if (!text || !*text)
		return;
	free(h->what);
	h->what = mem_str("The same server");
	add_sentence(
	    &h->facts, "%c%s.", toupper((unsigned char)*text), text + 1);
}

/* A changed canary invalidates the whole comparison, as in vkb-compare. */
static void
check_canaries(struct headline *h, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "canary"));

	for (; j; j = json_next(j)) {
		const char *name = json_get_str(j, "case");
		const char *metric = json_get_str(j, "metric");
		const char *verdict = json_get_str(j, "verdict");

		if (json_get_bool(j, "ok", false))
			continue;
		add_sentence(&h->facts,
		    "Canary %s: %s %s: these results are not reliable.",
		    name ? name : "-", metric ? metric : "it",
		    !metric ? "is missing"
			: verdict && strcmp(verdict, "insufficient") == 0
			? "has too few runs"
			: "changed");
		free(h->what);
		h->what = mem_str("Not reliable");
		h->outcome = MODEL_INSUFFICIENT;
	}
}

/* Adds metrics that only one side has, and policy rules without effect. */
static void
describe_gaps(struct headline *h, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "one_sided"));

	for (; j; j = json_next(j)) {
		const char *side = json_get_str(j, "side");
		const char *metric = json_get_str(j, "metric");
		double n = json_get_num(j, "cases", 0);

		if (side && metric)
			add_sentence(&h->advice,
			    "Only the %s has %s (%.0f case%s).", side, metric,
			    n, num_plural(n));
	}
	for (j = json_first(json_get(rec, "waivers")); j; j = json_next(j)) {
		const char *rule = json_get_str(j, "rule");
		const char *what = json_get_str(j, "what");

		if (rule && what)
			add_sentence(&h->advice, "The policy's rule %s: %s.",
			    rule, what);
	}
}

void
headline_left_out(struct str *s, const struct model *m)
{
	str_add(s,
	    m->incomplete
		? "Some records could not be read; the report shows the others."
		: "");
	if (m->duplicates)
		str_printf(s,
		    "%s%zu summar%s left out: another of the same case and "
		    "subject has as many runs or more.",
		    m->incomplete ? " " : "", m->duplicates,
		    m->duplicates == 1 ? "y is" : "ies are");
}

static void
advise_next(struct headline *h, const struct verdict_counts *t)
{
	struct str time = {0};
	char buf[NUM_BUF];

	if (t->first[MODEL_REGRESSION])
		add_sentence(&h->advice,
		    "Find the commit with vkb-bisect, and the functions with "
		    "vkb-why.");
	if (t->minutes > 0)
		str_printf(&time, " (about %s for each case)",
		    num_seconds(buf, 60 * t->minutes));
	if (t->open)
		add_sentence(&h->advice,
		    "Make up to %.0f runs on each side%s to decide %zu "
		    "result%s.",
		    t->runs, time.len ? time.s : "", t->open,
		    num_plural((double)t->open));
	if (t->count[MODEL_INSUFFICIENT])
		add_sentence(&h->advice,
		    "Make at least 4 runs of each side, so that all results "
		    "can be judged.");
	if (t->hopeless)
		add_sentence(&h->advice,
		    "This machine is too noisy to tell for %zu result%s: more "
		    "than ten times as many runs would be needed. Find the "
		    "cause with vkb-env --check.",
		    t->hopeless, num_plural((double)t->hopeless));
	if (t->bound)
		add_sentence(&h->advice,
		    "The load client was the bottleneck for %zu result%s, "
		    "which therefore do not measure the server; give the "
		    "client more CPUs.",
		    t->bound, num_plural((double)t->bound));
	str_free(&time);
}

/* Returns the headline: of "work" if only counts changed. */
static const char *
find_outcome(const struct verdict_counts *t, enum model_verdict v)
{
	static const char *const outcomes[MODEL_VERDICTS + 1] = {"Worse",
	    "Likely worse", "Better", "Likely better", "Different",
	    "Likely different", "No slowdown shown", "Too few runs",
	    "No change", "Nothing was judged"};

	if (v == MODEL_VERDICTS && t->waived)
		return t->waived_counts == t->waived ? "More work, but waived"
						     : "Worse, but waived";
	if (v <= MODEL_IMPROVEMENT && t->counted[v] == t->count[v])
		return v == MODEL_REGRESSION ? "More work" : "Less work";
	return outcomes[v];
}

static void
describe_pair(struct headline *h, const struct model *m)
{
	const struct json *all = find_comparison(m, h);
	struct verdict_counts t = {0};

	for (size_t i = 0; i < m->ndeltas; i++)
		if (is_of_pair(h, &m->deltas[i]))
			count_delta(&t, &m->deltas[i]);
	h->outcome = MODEL_VERDICTS;
	for (size_t v = MODEL_VERDICTS; v-- > 0;)
		if (t.count[v])
			h->outcome = (enum model_verdict)v;
	h->what = mem_str(find_outcome(&t, h->outcome));
	describe_same_server(h, all);
	check_canaries(h, all);
	describe_changes(h, &t, MODEL_REGRESSION, "worse");
	describe_changes(h, &t, MODEL_LIKELY_REGRESSION, "likely worse");
	describe_changes(h, &t, MODEL_IMPROVEMENT, "better");
	describe_changes(h, &t, MODEL_LIKELY_IMPROVEMENT, "likely better");
	describe_changes(h, &t, MODEL_DIFFERENT, "different");
	describe_changes(h, &t, MODEL_LIKELY_DIFFERENT, "likely different");
	describe_together(h, m);
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
		worse += strcmp(m->changes[i].way, "regression") == 0 &&
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
	add_sentence(&h->facts, "%s.", s.s);
	if (!m->nchanges && m->nsubjects == 2)
		add_sentence(&h->advice,
		    "To compare the subjects, add the output of vkb-compare "
		    "--format jsonl to the input.");
	else if (!m->nchanges && m->nsubjects > 2)
		add_sentence(&h->advice,
		    "To find changes in a history, add the output of "
		    "vkb-detect --format jsonl to the input.");
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
		v = add_pair(
		    v, n, &cap, m, m->deltas[i].base, m->deltas[i].contender);
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

static void
free_sentences(struct sentences *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
}

void
headlines_free(struct headline *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free_sentences(&v[i].facts);
		free_sentences(&v[i].advice);
		free(v[i].what);
	}
	free(v);
}
