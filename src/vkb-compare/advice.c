#include "apart.h"
#include "busy.h"
#include "judge.h"
#include "num.h"
#include "report.h"
#include "str.h"

#include <math.h>

/* What the unclear rows need. */
struct next {
	size_t rows, hopeless;
	size_t more; /* runs per side, or rounds */
	size_t few;  /* rows of too few runs */
	size_t lack; /* runs per side, or rounds, that these lack */
	bool unpaired, few_unpaired;
	double minutes; /* NAN: not known */
	size_t serial;  /* rows of autocorrelated runs */
	size_t turned;  /* rows that a number of rounds in turns would decide */
	size_t rounds;  /* this number */
};

/* Adds a row of unpaired runs. */
static void
add_unpaired(struct next *n, const struct row *r)
{
	n->serial += r->facts.serial > 0;
	if (report_is_hopeless(r))
		return;
	n->turned += r->rounds > 0;
	if (r->rounds > n->rounds)
		n->rounds = r->rounds;
}

/* Adds a row of too few runs: with enough of them it is judged, and may still
 * be unclear. */
static void
add_few(struct next *n, const struct row *r, size_t have)
{
	n->few++;
	n->few_unpaired |= !r->facts.paired;
	if (r->needed > n->lack + have)
		n->lack = r->needed - have;
}

/* Sums what the unclear rows need. All rows of a case share its runs, so the
 * row that needs most minutes counts for the case. */
static struct next
plan_more_runs(const struct comparison *c)
{
	struct next n = {0};
	const struct pairing *pair = NULL;
	double longest = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];
		const struct verdict_facts *f = &r->facts;
		size_t have = f->m < f->n ? f->m : f->n;

		if (!report_is_judged(r) ||
		    (r->verdict != VERDICT_INCONCLUSIVE &&
			r->verdict != VERDICT_INSUFFICIENT &&
			!verdict_is_likely(r->verdict)))
			continue;
		if (r->verdict == VERDICT_INSUFFICIENT) {
			add_few(&n, r, have);
			continue;
		}
		if (!f->paired && !report_is_exact(r))
			add_unpaired(&n, r);
		if (report_is_hopeless(r))
			n.hopeless++;
		if (report_is_hopeless(r) || r->needed <= have)
			continue;
		n.rows++;
		n.unpaired |= !f->paired;
		if (r->needed - have > n.more)
			n.more = r->needed - have;
		if (r->pair != pair) {
			n.minutes += longest;
			longest = 0;
			pair = r->pair;
		}
		if (!(r->minutes <= longest)) /* NAN stays */
			longest = r->minutes;
	}
	n.minutes += longest;
	return n;
}

/* Adds what all cases did that is not a change in the headline already; names
 * the metric if there are several. */
static void
add_common(struct str *s, const struct comparison *c)
{
	size_t metrics = 0;

	for (size_t i = 0; i < c->nrows; i++)
		metrics += c->rows[i].common && c->rows[i].primary;
	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];
		const struct verdict_facts *f = &r->facts;

		if (!c->session_from || !r->common || !r->primary ||
		    r->verdict != VERDICT_INCONCLUSIVE ||
		    fabs(f->ratio - 1) <= r->margin)
			continue;
		str_add(s, s->len ? "; " : "");
		if (metrics > 1) {
			str_visible(s, r->name);
			str_add(s, " of ");
		}
		str_printf(s,
		    "all cases moved by %+.1f%% [%+.1f, %+.1f] together, which "
		    "may be the machine",
		    100 * (f->ratio - 1), 100 * (f->lo95 - 1),
		    100 * (f->hi95 - 1));
	}
}

/* More runs do not show what sessions differ by. */
static void
add_sessions(struct str *s, const struct comparison *c)
{
	double visible = NAN;
	bool together = false;

	if (!c->session_from && c->sessions[0] < APART_SESSIONS)
		str_printf(s,
		    "%smeasured in different sessions; vkb-ab and vkb-load "
		    "--again measure both sides in turns",
		    s->len ? "; " : "");
	add_common(s, c);
	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];

		if (!r->primary || r->has_rest || isnan(r->visible) ||
		    r->visible < visible)
			continue;
		visible = r->visible;
		together = r->common;
	}
	if (!c->session_from)
		return;
	str_printf(s, "%smeasured in different sessions, ", s->len ? "; " : "");
	report_sessions(s, c->session_sd, c->session_from);
	if (!isnan(visible))
		str_printf(s,
		    ", so changes%s below about %.0f%% cannot be told from the "
		    "machine",
		    together ? " of all cases together" : "", 100 * visible);
	str_add(s, "; vkb-ab and vkb-load --again measure both sides in turns");
}

static void
add_busy(struct str *s, const struct comparison *c)
{
	double percent[2];

	if (!busy_find(c, percent))
		return;
	str_printf(s,
	    "%sother programs used %.0f%% of the CPUs beside the "
	    "baseline and %.0f%% beside the contender",
	    s->len ? "; " : "", percent[0], percent[1]);
	if (!c->sessions[0])
		str_add(s, "; vkb-ab measures both sides in turns");
}

/* Advises to measure in turns, which cancels the noise that neighbouring runs
 * share; more autocorrelated runs would add little information. */
static void
add_turns(struct str *s, const struct next *n)
{
	if (!n->serial && !n->turned)
		return;
	str_printf(s, "%s%smeasure both sides in turns (vkb-ab",
	    s->len ? "; " : "",
	    n->serial ? "neighbouring runs resemble each other, so more runs "
			"add little information; "
		      : "");
	if (n->turned)
		str_printf(s, "; about %zu rounds would decide %zu result%s",
		    n->rounds, n->turned, num_plural(n->turned));
	str_addc(s, ')');
}

void
report_advice(struct str *s, const struct comparison *c)
{
	struct next n;
	char buf[NUM_BUF];

	add_busy(s, c);
	if (c->sessions[0]) {
		add_sessions(s, c);
		return;
	}
	n = plan_more_runs(c);
	if (n.rows) {
		str_printf(s, "%s%zu more %s%s%s", s->len ? "; " : "", n.more,
		    n.unpaired ? "run" : "round", num_plural(n.more),
		    n.unpaired ? " a side" : "");
		if (!isnan(n.minutes))
			str_printf(
			    s, " (about %s)", num_seconds(buf, 60 * n.minutes));
		str_printf(s, " would decide %zu result%s", n.rows,
		    num_plural(n.rows));
	}
	if (n.lack)
		str_printf(s,
		    "%s%zu more %s%s%s %s needed to judge %zu result%s",
		    s->len ? "; " : "", n.lack,
		    n.few_unpaired ? "run" : "round", num_plural(n.lack),
		    n.few_unpaired ? " a side" : "", n.lack == 1 ? "is" : "are",
		    n.few, num_plural(n.few));
	add_turns(s, &n);
	if (n.hopeless)
		str_printf(s,
		    "%sthis machine is too noisy to tell for %zu result%s",
		    s->len ? "; " : "", n.hopeless, num_plural(n.hopeless));
}
