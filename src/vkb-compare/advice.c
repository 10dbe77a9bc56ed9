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
	bool unpaired;
	double minutes; /* NAN: not known */
	size_t alike;   /* rows of autocorrelated runs */
	size_t turned;  /* of these, that a number of rounds in turns would
			 * decide */
	size_t rounds;  /* this number */
};

/* Adds a row of autocorrelated runs. */
static void
add_alike(struct next *n, const struct row *r)
{
	n->alike++;
	n->turned += r->rounds > 0;
	if (r->rounds > n->rounds)
		n->rounds = r->rounds;
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
		if (r->facts.serial > 0)
			add_alike(&n, r);
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

/* More runs do not show what sessions differ by. */
static void
add_sessions(struct str *s, const struct comparison *c)
{
	double visible = NAN;

	if (!c->session_from && c->sessions[0] < APART_SESSIONS)
		str_printf(s,
		    "%smeasured in different sessions; vkb-ab and vkb-load "
		    "--again measure both sides in turns",
		    s->len ? "; " : "");
	for (size_t i = 0; i < c->nrows; i++)
		if (c->session_from && c->rows[i].common &&
		    c->rows[i].verdict != VERDICT_REGRESSION &&
		    fabs(c->rows[i].facts.ratio - 1) > c->rows[i].margin) {
			str_printf(
			    s, "%sall cases moved by ", s->len ? "; " : "");
			str_printf(s,
			    "%+.1f%% [%+.1f, %+.1f] together, which may be the "
			    "machine",
			    100 * (c->rows[i].facts.ratio - 1),
			    100 * (c->rows[i].facts.lo95 - 1),
			    100 * (c->rows[i].facts.hi95 - 1));
		}
	for (size_t i = 0; i < c->nrows; i++)
		if (c->rows[i].common ||
		    (c->rows[i].primary && !c->rows[i].has_rest))
			visible = fmax(visible, c->rows[i].visible);
	if (!c->session_from)
		return;
	str_printf(s, "%smeasured in different sessions, ", s->len ? "; " : "");
	report_sessions(s, c->session_sd, c->session_from);
	if (!isnan(visible))
		str_printf(s,
		    ", so changes below about %.0f%% cannot be told from the "
		    "machine",
		    100 * visible);
	str_add(s, "; vkb-ab and vkb-load --again measure both sides in turns");
}

static void
add_busy(struct str *s, const struct comparison *c)
{
	double percent[2];

	if (busy_find(c, percent))
		str_printf(s,
		    "; other programs used %.0f%% of the CPUs beside the "
		    "baseline and %.0f%% beside the contender",
		    percent[0], percent[1]);
}

/* Autocorrelated runs: more of them show little, but what neighbours have in
 * common cancels where both sides run in turns. */
static void
add_turns(struct str *s, const struct next *n)
{
	if (!n->alike)
		return;
	str_printf(s,
	    "%sneighbouring runs resemble each other, so more runs show "
	    "little; "
	    "measure both sides in turns (vkb-ab",
	    s->len ? "; " : "");
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
	add_turns(s, &n);
	if (n.hopeless)
		str_printf(s,
		    "%sthis machine is too noisy to tell for %zu result%s",
		    s->len ? "; " : "", n.hopeless, num_plural(n.hopeless));
}
