#include "report.h"
#include "json.h"
#include "markup.h"
#include "num.h"
#include "str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 100 }; /* bytes of a name */

/* Cases whose count and time a sentence of the headline has summed up, at most
 * one for each verdict. */
struct summed_up {
	const struct pairing *v[VERDICTS];
	size_t n;
};

/* Does one of these sentences include the row? */
static bool
is_summed_up(const struct summed_up *t, const struct row *r)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i] == r->pair && together_has(r))
			return true;
	return false;
}

bool
report_is_by_rest(const struct row *r)
{
	const struct verdict_facts *f = &r->rest;
	double low = 1 - r->margin;

	return r->has_rest && (f->hi95 < 1 || f->lo95 > 1) &&
	    (f->ratio < low || f->ratio > 1 / low);
}

/* Returns the judged row of this verdict that changed most, or NULL: one that
 * is 'waived', or not, and that is not summed up yet. Counts such rows in *n.
 * The change is that of the rest where the rest decides. */
static const struct row *
find_largest_change(const struct comparison *c, enum verdict v, bool waived,
    const struct summed_up *t, size_t *n)
{
	const struct row *best = NULL;
	double size = -1;

	*n = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];
		double d = fabs(
		    log(report_is_by_rest(r) ? r->rest.ratio : r->facts.ratio));

		if (!r->gate || r->waived != waived || r->verdict != v ||
		    is_summed_up(t, r))
			continue;
		++*n;
		d = isnan(d) ? 0 : d;
		if (d > size) {
			best = r;
			size = d;
		}
	}
	return best;
}

/* Is it exact, and not memory? */
static bool
is_count_of_work(const struct row *r)
{
	return report_is_exact(r) && str_ends(r->name, "_per_req");
}

/* Returns the word for a change: a count is not a time. */
static const char *
choose_word(const struct row *r, bool together, const char *word)
{
	bool more = r->facts.median[1] > r->facts.median[0];

	if (together)
		more = r->pair->kind == TOGETHER_MORE_WORK;
	if ((together && r->pair->kind == TOGETHER_TIME) ||
	    (!together && !is_count_of_work(r)))
		return word;
	if (r->waived) /* a regression */
		return "more work, but waived";
	return more ? "more work" : "less work";
}

/* Does the sentence about count and time of the row's case replace that about
 * the row? It does if one of both changed and has the verdict of the row. */
static bool
is_together(const struct comparison *c, const struct row *r)
{
	if (r->pair->kind == TOGETHER_NONE ||
	    r->pair->kind >= TOGETHER_UNCLEAR || r->waived)
		return false;
	for (size_t i = 0; i < c->nrows; i++)
		if (c->rows[i].pair == r->pair &&
		    report_is_judged(&c->rows[i]) &&
		    c->rows[i].verdict == r->verdict &&
		    together_has(&c->rows[i]))
			return true;
	return false;
}

/* Adds "SET rps 1.07x slower -6.2%, certain". */
static void
tell_row(struct str *s, const struct row *r)
{
	markup_cut(s, r->pair->name[0], LONGEST);
	str_addc(s, ' ');
	if (report_is_exact(r)) {
		together_write_exact(s, r);
		return;
	}
	markup_cut(s, r->name, LONGEST);
	str_addc(s, ' ');
	if (report_is_by_rest(r))
		str_printf(s, "%+.1f%% [%+.1f, %+.1f] relative to all cases",
		    100 * (r->rest.ratio - 1), 100 * (r->rest.lo95 - 1),
		    100 * (r->rest.hi95 - 1));
	else
		report_change(s, r);
	if (r->certain)
		str_add(s, ", certain");
}

/* Adds "worse: SET rps 1.07x slower -6.2%, certain, and 2 more regressions" for
 * the changes of this verdict that are 'waived' or not. */
static void
add_change_phrase(struct str *s, const struct comparison *c, enum verdict v,
    bool waived, struct summed_up *t, const char *word, const char *plural)
{
	size_t more;
	const struct row *r = find_largest_change(c, v, waived, t, &more);
	bool together;

	if (!r)
		return;
	together = is_together(c, r);
	str_printf(
	    s, "%s%s: ", s->len ? "; " : "", choose_word(r, together, word));
	if (together) {
		str_add(s, r->pair->together);
		t->v[t->n++] = r->pair;
		find_largest_change(c, v, waived, t, &more);
	} else {
		tell_row(s, r);
		more--;
	}
	if (more)
		str_printf(s, "%s and %zu more %s", together ? ";" : ",", more,
		    more == 1 ? verdict_name(r->verdict) : plural);
}

static void
add_changes(struct str *s, const struct comparison *c)
{
	static const struct {
		enum verdict verdict;
		const char *word, *plural;
	} kinds[] = {{VERDICT_REGRESSION, "worse", "regressions"},
	    {VERDICT_LIKELY_REGRESSION, "likely worse", "likely regressions"},
	    {VERDICT_IMPROVEMENT, "better", "improvements"},
	    {VERDICT_LIKELY_IMPROVEMENT, "likely better",
		"likely improvements"},
	    {VERDICT_DIFFERENT, "different", "different"},
	    {VERDICT_LIKELY_DIFFERENT, "likely different", "likely different"}};
	struct summed_up t = {0};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		add_change_phrase(s, c, kinds[i].verdict, false, &t,
		    kinds[i].word, kinds[i].plural);
	add_change_phrase(s, c, VERDICT_REGRESSION, true, &t,
	    "worse, but waived", "regressions");
}

/* Adds "no more work per request; too few runs to compare times" for the cases
 * of this kind, if these are 'all' or not. */
static void
add_unclear_time(struct str *s, const struct comparison *c,
    enum together_kind kind, bool all)
{
	const char *sep = s->len ? "; " : "";
	const struct pairing *one = NULL;
	size_t n = 0;

	for (size_t i = 0; i < c->npairs; i++)
		if (c->pairs[i].kind == kind) {
			n++;
			one = &c->pairs[i];
		}
	if ((n == c->matched) != all)
		return;
	if (n == 1)
		str_printf(s, "%s%s", sep, one->together);
	else if (n)
		str_printf(s, "%s%s%zu cases: no more work per request; %s",
		    sep, all ? "all " : "", n,
		    kind == TOGETHER_UNCLEAR
			? "this machine is too noisy to compare times"
			: "too few runs to compare times");
}

static void
add_same_work(struct str *s, const struct comparison *c, bool all)
{
	add_unclear_time(s, c, TOGETHER_UNCLEAR, all);
	add_unclear_time(s, c, TOGETHER_TOO_FEW, all);
}

static void
add_no_change(struct str *s, const struct comparison *c)
{
	size_t open =
	    c->count[VERDICT_INCONCLUSIVE] + c->count[VERDICT_INSUFFICIENT];
	size_t same = c->count[VERDICT_EQUIVALENT], noise = 0;

	if (s->len)
		return;
	for (size_t i = 0; i < c->nrows; i++)
		noise += c->rows[i].gate && c->rows[i].noise;
	if (open)
		str_printf(s,
		    "no slowdown shown; %zu of %zu result%s %s unclear", open,
		    open + same, num_plural(open + same),
		    open == 1 ? "is" : "are");
	else if (noise)
		str_add(s, "no change");
	else if (same == 1)
		str_add(s, "no change: the one result is within its margin");
	else if (same)
		str_printf(s,
		    "no change: all %zu results are within their margins",
		    same);
	else
		str_add(s, "nothing was judged");
}

enum verdict
report_outcome(const struct comparison *c)
{
	for (size_t i = 0; i < VERDICTS; i++)
		if (c->count[report_verdicts[i]])
			return report_verdicts[i];
	return VERDICTS;
}

size_t
report_count_missing(const struct comparison *c)
{
	size_t n = c->unmatched[0];

	for (size_t i = 0; i < c->one_sided_count; i++)
		n += c->one_sided[i].side == 0 && !c->one_sided[i].optional;
	return n;
}

static void
capitalise_at(struct str *s, size_t at)
{
	if (at < s->len)
		s->s[at] = (char)toupper((unsigned char)s->s[at]);
}

static const char *
find_changed_canary(const struct comparison *c)
{
	const struct json *j = json_first(json_get(c->record, "canary"));
	static const char *const texts[] = {
	    "not to be relied on: a canary changed",
	    "not to be relied on: a canary was not measured"};

	for (size_t i = 0; i < c->ncanaries; i++)
		if (!c->canaries[i].ok)
			return texts[c->canaries[i].verdict ==
			    VERDICT_INSUFFICIENT];
	for (; j; j = json_next(j))
		if (!json_get_bool(j, "ok", true))
			return texts[strcmp(json_get_str(j, "verdict")
					     ? json_get_str(j, "verdict")
					     : "",
					 verdict_name(VERDICT_INSUFFICIENT)) ==
			    0];
	return NULL;
}

void
report_caution(struct str *s, const struct comparison *c)
{
	const char *canary = find_changed_canary(c);
	size_t at = s->len;
	struct str same = {0};

	str_add(s, canary ? canary : "");
	capitalise_at(s, at);
	str_add(s, canary ? "." : "");
	report_same_server(&same, c);
	capitalise_at(&same, 0);
	if (same.len)
		str_printf(s, "%s%s", canary ? " " : "", same.s);
	str_free(&same);
}

void
report_outlook(struct str *s, const struct comparison *c)
{
	const char *recorded = json_get_str(c->record, "outlook");

	if (c->record) {
		str_add(s, recorded ? recorded : "");
		return;
	}
	report_advice(s, c);
	if (c->failed_runs > 0)
		str_printf(s, "%s%.0f run%s of the contender failed",
		    s->len ? "; " : "", c->failed_runs,
		    num_plural(c->failed_runs));
	if (report_count_missing(c))
		str_printf(s, "%sthe contender lacks %zu case%s or metric%s",
		    s->len ? "; " : "", report_count_missing(c),
		    num_plural((double)report_count_missing(c)),
		    num_plural((double)report_count_missing(c)));
	if (c->on_likely)
		str_printf(s, "%slikely regressions %s (--on-likely %s)",
		    s->len ? "; " : "",
		    strcmp(c->on_likely, "fail") == 0 ? "fail the job"
						      : "do not fail the job",
		    c->on_likely);
}

void
report_headline(struct str *s, const struct comparison *c)
{
	const char *canary = find_changed_canary(c);
	struct str t = {0};
	size_t at;

	if (c->record) {
		str_add(s, json_get_str(c->record, "headline"));
		return;
	}
	str_add(&t, canary ? canary : "");
	add_changes(&t, c);
	add_same_work(&t, c, true);
	add_no_change(&t, c);
	add_same_work(&t, c, false);
	report_outlook(&t, c);
	at = s->len;
	report_same_server(s, c);
	capitalise_at(s, at);
	str_add(s, s->len > at ? ". " : "");
	capitalise_at(&t, 0);
	str_add(s, t.s);
	str_free(&t);
}
