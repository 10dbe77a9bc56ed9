#include "decide.h"
#include "infer.h"
#include "intern.h"
#include "judge/claim.h"
#include "judge/plan.h"
#include "json.h"
#include "judge.h"
#include "markup.h"
#include "mem.h"
#include "report.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the same server on both sides: what differs between runs that took turns
 * is noise */

#define ROUNDING 1e-9 /* standard deviation of what is not noise */

enum { LONGEST = 100 }; /* bytes of a name */

/* Have both subjects this value, or neither? */
static bool
is_same_value(const struct comparison *c, const char *key)
{
	return json_equal(
	    json_get(c->subject[0], key), json_get(c->subject[1], key));
}

/* Are the files of the server and its module the same, by their SHA-256? What a
 * script starts is not known: it may use other files. */
static bool
is_same_server(const struct comparison *c)
{
	for (size_t i = 0; i < c->npairs; i++)
		if (c->pairs[i].note) /* their configurations may differ */
			return false;
	return json_get(c->subject[0], "binary_sha256") &&
	    is_same_value(c, "binary_sha256") &&
	    !json_get(c->subject[0], "script_sha256") &&
	    !json_get(c->subject[1], "script_sha256") &&
	    is_same_value(c, "module_sha256");
}

/*
 * Is it known that a row did not really change? It is if both sides have the
 * same server, by its SHA-256, and the same environment, and took turns: then
 * they share the session, the machine and its drift. A value that differs by
 * the same factor in all rounds is not noise, nor is an exact count.
 */
static bool
is_unchanged(const struct comparison *c, const struct row *r)
{
	return r->facts.paired && !r->exact && !r->common &&
	    r->model->noise[0].var > ROUNDING * ROUNDING && !c->ndifferences &&
	    is_same_server(c);
}

/* Adds ": rps differs by up to 4.2%", with each primary metric. */
static void
add_size_of_noise(struct str *s, const struct comparison *c)
{
	struct intern *names = intern_new();
	double *most = mem_array(c->nrows + 1, sizeof *most);

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];
		size_t k;

		if (!r->primary || r->common || r->exact || r->rare ||
		    isnan(r->facts.ratio))
			continue;
		k = intern_id(names, r->name);
		most[k] = fmax(most[k], fabs(r->facts.ratio - 1));
	}
	for (size_t k = 0; k < intern_count(names); k++) {
		str_add(s, k ? ", " : ": ");
		markup_cut(s, intern_text(names, k), LONGEST);
		str_printf(s, " differs by up to %.1f%%", 100 * most[k]);
	}
	free(most);
	intern_free(names);
}

/* Did the sides take turns in all rows that are not counted? Where values are
 * missing, few rounds may be left: they are turns, too. */
static bool
has_turns(const struct comparison *c)
{
	for (size_t i = 0; i < c->nrows; i++)
		if (!c->rows[i].facts.paired && !c->rows[i].model->rounds &&
		    !c->rows[i].exact && !c->rows[i].common)
			return false;
	return true;
}

void
report_same_server(struct str *s, const struct comparison *c)
{
	const char *recorded = json_get_str(c->record, "same_server");

	str_add(s, recorded ? recorded : "");
	if (c->record || !is_same_server(c))
		return;
	str_printf(s,
	    "both sides are the same server%s, so differences in time are ",
	    json_get(c->subject[0], "module_sha256") ? " and module" : "");
	str_add(s,
	    c->ndifferences    ? "noise or come from the environment, which "
				 "differs too"
		: has_turns(c) ? "this machine's noise"
			       : "noise or come from what changed between the "
				 "measurements");
	add_size_of_noise(s, c);
}

/* --- verdicts */

/* Seconds for one more run of each side; NAN: not known. */
static double
expect_seconds(const struct pairing *p)
{
	double sum = 0;

	for (size_t j = 0; j < 2; j++) {
		const struct kase *k = p->side[j];

		sum += cases_seconds(k) +
		    json_get_num(cases_config(k), "warmup_s", 0);
	}
	return sum;
}

/* Is the row, which has noise, undecided or only likely? */
static bool
is_unclear(const struct row *row)
{
	return row->of &&
	    (row->verdict == VERDICT_INCONCLUSIVE ||
		verdict_is_likely(row->verdict));
}

double
report_find_visible(const struct row *row)
{
	struct plan p;

	if (!is_unclear(row))
		return row->visible;
	p = infer_plan(row);
	return plan_change(&p);
}

static void
decide_row(const struct comparison *c, struct row *row, enum claim_word word)
{
	const struct verdict_facts *f = &row->facts;
	size_t have = f->m < f->n ? f->m : f->n;
	size_t kept =
	    f->paired || f->m < VERDICT_RUNS || f->n < VERDICT_RUNS ? have : 0;
	struct plan p;

	row->verdict =
	    verdict_decide(f, row->metric->better, row->margin, word);
	row->noise = row->verdict != VERDICT_EQUIVALENT &&
	    row->verdict != VERDICT_INSUFFICIENT && is_unchanged(c, row);
	if (row->noise)
		row->verdict = VERDICT_EQUIVALENT;
	row->waived = (row->verdict == VERDICT_REGRESSION ||
			  row->verdict == VERDICT_LIKELY_REGRESSION) &&
	    rules_is_waived(row);
	if (row->verdict == VERDICT_INSUFFICIENT) {
		row->needed = VERDICT_RUNS;
	} else if (is_unclear(row) && !row->common && !row->busy) {
		/* More runs help, but not beside other programs or in another
		 * session. */
		p = infer_plan(row);
		row->needed = plan_rounds(&p);
	}
	if (row->needed > kept)
		row->minutes = (double)(row->needed - kept) *
		    expect_seconds(row->pair) / 60;
}

/* Chooses the claims among the rows of all comparisons that are judged, and
 * those that are only shown. */
static void
choose_claims(struct comparison *c, size_t n, const struct rules *r)
{
	size_t all = 0, k = 0, judged = 0;
	struct claim *v;
	double needs;

	for (size_t i = 0; i < n; i++)
		all += c[i].nrows;
	v = mem_array(all + 1, sizeof *v);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c[i].nrows; j++) {
			const struct row *row = &c[i].rows[j];

			v[k] = verdict_make_claim(&row->facts, row->margin);
			v[k++].shown = !row->gate;
			judged += row->gate && !row->exact;
		}
	needs = claim_choose(v, k, r->strict);
	k = 0;
	for (size_t i = 0; i < n; i++) {
		c[i].claims = judged;
		for (size_t j = 0; j < c[i].nmetrics; j++)
			c[i].metrics[j].needs_p = needs;
		for (size_t j = 0; j < c[i].nrows; j++)
			decide_row(&c[i], &c[i].rows[j], v[k++].word);
	}
	free(v);
}

/* Does the other row of the same case outweigh this one? */
static bool
is_outweighed(const struct row *row, const struct row *by)
{
	struct verdict_other other = {.name = by->name,
	    .facts = &by->facts,
	    .verdict = by->verdict,
	    .time = judge_is_time(by) || (by->primary && !by->exact)};

	return by->gate && verdict_outweighs(&other, row->name, &row->facts);
}

/* Is a row of its case that was measured worse, or likely worse? */
static bool
is_slower(const struct row *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].gate && !v[i].exact &&
		    (v[i].verdict == VERDICT_REGRESSION ||
			v[i].verdict == VERDICT_LIKELY_REGRESSION))
			return true;
	return false;
}

/* More allocations or system calls are not a regression of a case that takes
 * less, nor are slightly more instructions of one that is not slower, unless
 * their margin was chosen. 'v' are the rows of a case. */
static void
outweigh_case(struct row *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i].verdict != VERDICT_REGRESSION ||
		    (verdict_is_slight(v[i].name, &v[i].facts) &&
			(strcmp(v[i].margin_from, "table") != 0 ||
			    is_slower(v, n))))
			continue;
		for (size_t j = 0; j < n; j++)
			v[i].outweighed |= is_outweighed(&v[i], &v[j]);
		if (!v[i].outweighed)
			continue;
		v[i].verdict = VERDICT_DIFFERENT;
		v[i].waived = false;
	}
}

static void
outweigh_rows(struct comparison *c)
{
	for (size_t i = 0, end; i < c->nrows; i = end) {
		for (end = i + 1;
		     end < c->nrows && c->rows[end].pair == c->rows[i].pair;)
			end++;
		outweigh_case(&c->rows[i], end - i);
	}
}

/*
 * Adds the mean over the cases of a metric, of their ratios above 0. Its
 * interval follows from the errors of their rows, of which those of different
 * cases are independent, and the machine's. It has none if no case has more
 * than one run on each side: then differences between cases cannot be told from
 * noise. Neither if the sides share no session, or other programs ran beside
 * one of them: that moves all cases together.
 */
static void
add_overall(struct comparison *c, const char *name)
{
	const struct metric_facts *of = NULL;
	double *ratios = mem_array(c->nrows + 1, sizeof *ratios), k, wide;
	struct overall o = {.name = mem_str(name), .lo = NAN, .hi = NAN};
	bool several = false, known = !c->sessions[0];
	struct moderate sum = {0, INFINITY};
	struct model_row mean = {0};

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *row = &c->rows[i];
		const struct model_row *m = row->model;

		/* A ratio of how often requests are slow is none of values. */
		if (row->common || row->rare || strcmp(row->name, name) != 0)
			continue;
		of = row->of ? row->of : of;
		known = known && !row->busy;
		several = several || (row->facts.m > 1 && row->facts.n > 1);
		if (!(row->facts.ratio > 0))
			continue;
		ratios[o.cases++] = row->facts.ratio;
		known = known && m->own.df >= 1;
		mean.step += m->step;
		sum = moderate_add(m->own, sum);
	}
	o.ratio = stats_geomean(ratios, o.cases);
	if (several && known && of && o.cases) {
		k = (double)o.cases;
		mean.step /= k;
		sum.var /= k * k;
		mean.error = moderate_add(sum, of->model.moved_error);
		wide = exp(model_half_width(&mean, .95));
		o.lo = o.ratio / wide;
		o.hi = o.ratio * wide;
	}
	c->overall =
	    mem_resize(c->overall, c->noverall + 1, sizeof *c->overall);
	c->overall[c->noverall++] = o;
	free(ratios);
}

static bool
has_overall(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->noverall; i++)
		if (strcmp(c->overall[i].name, name) == 0)
			return true;
	return false;
}

void
decide_all(struct comparison *c, size_t n, const struct rules *r)
{
	for (size_t i = 0; i < n; i++)
		infer_rows(&c[i], r);
	choose_claims(c, n, r);
	for (size_t i = 0; i < n; i++) {
		outweigh_rows(&c[i]);
		for (size_t j = 0; j < c[i].nrows; j++) {
			const struct row *row = &c[i].rows[j];

			if (row->waived)
				c[i].waived += row->gate;
			else
				c[i].count[row->verdict] += row->gate;
			c[i].paired += row->gate && row->facts.paired;
			if (row->gate && !row->common &&
			    !has_overall(&c[i], row->name))
				add_overall(&c[i], row->name);
		}
	}
	rules_add_issues(r, c, n);
}
