#include "report.h"
#include "brief.h"
#include "busy.h"
#include "json.h"
#include "judge.h"
#include "markup.h"
#include "metric.h"
#include "num.h"
#include "str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what would make unclear results clear */

enum { NAME = 60 }; /* bytes of the name of a case */

/* What the unclear rows need. */
struct next {
	size_t rows;
	const struct row *last; /* one of these rows */
	size_t more;            /* runs per side */
	size_t few;             /* rows of too few runs */
	size_t lack;            /* runs per side that these lack */
	double minutes;         /* NAN: not known */
	size_t serial;          /* rows of autocorrelated runs */
};

/* Adds a row of too few runs: with enough of them it is judged, and may still
 * be unclear. */
static void
add_few(struct next *n, const struct row *r, size_t have)
{
	n->few++;
	if (r->needed > n->lack + have)
		n->lack = r->needed - have;
}

/* Adds "throughput of SET" for one result, or "4 results". */
static void
add_results(struct str *s, size_t n, const struct row *one)
{
	if (n > 1) {
		str_printf(s, "%zu results", n);
		return;
	}
	metric_write_label(s, one->name);
	str_add(s, " of ");
	markup_cut(s, one->pair->name[0], NAME);
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
		if (!f->paired) {
			n.serial += !report_is_exact(r) && r->of &&
			    r->of->model.rho > 0;
			continue;
		}
		if (report_is_hopeless(r) || r->needed <= have)
			continue;
		n.rows++;
		n.last = r;
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

		if (!r->common || !r->primary ||
		    r->verdict != VERDICT_INCONCLUSIVE ||
		    fabs(f->ratio - 1) <= r->margin)
			continue;
		str_add(s, s->len ? "; " : "");
		str_add(s, "all cases moved by ");
		report_change(s, r);
		str_add(s, " together");
		if (metrics > 1) {
			str_add(s, " in ");
			metric_write_label(s, r->name);
		}
		str_add(s, ", which may be the machine");
	}
}

/* Is it a server that was measured? */
static bool
is_server(const struct comparison *c)
{
	if (json_get(c->subject[1], "server_version") ||
	    json_get(c->subject[1], "binary_sha256"))
		return true;
	for (size_t i = 0; i < c->nrows; i++) {
		const char *name = metric_base(c->rows[i].name);

		if (strcmp(name, "rps") == 0 || str_ends(name, "_latency_ms") ||
		    str_ends(name, "_per_req"))
			return true;
	}
	return false;
}

/* Says which program measures both sides interleaved. */
static void
add_interleaving(struct str *s, const struct comparison *c)
{
	str_printf(s, "; %s both sides interleaved",
	    is_server(c) ? "vkb-ab and vkb-load --again measure"
			 : "vkb-run measures");
}

/* More runs do not show what sessions differ by. */
static void
add_sessions(struct str *s, const struct comparison *c)
{
	const struct row *widest = NULL;
	double visible = 0;

	if (!c->assumed && !c->rows) {
		str_printf(
		    s, "%smeasured in different sessions", s->len ? "; " : "");
		add_interleaving(s, c);
	}
	add_common(s, c);
	if (!c->assumed)
		return;
	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];
		double v =
		    r->primary && !r->has_rest ? report_find_visible(r) : NAN;

		if (isnan(v) || v < visible)
			continue;
		widest = r;
		visible = v;
	}
	str_printf(s, "%smeasured %s, ", s->len ? "; " : "",
	    c->one_by_one ? "one side after the other"
			  : "in different sessions");
	report_sessions(s, c->assumed);
	if (widest) {
		str_add(s, ", so ");
		report_visible(s, widest, visible,
		    widest->common ? " of all cases together" : "");
	}
	add_interleaving(s, c);
}

static void
add_busy(struct str *s, const struct comparison *c)
{
	double percent[2], beside = busy_beside(c);

	if (beside > 0)
		str_printf(s,
		    "%sother processes used %.0f%% of the CPU: on an idle "
		    "machine throughput and latency may change by less",
		    s->len ? "; " : "", beside);
	if (!busy_find(c, percent))
		return;
	str_printf(s,
	    "%sother processes used %.0f%% of the CPU during the "
	    "baseline and %.0f%% during the contender",
	    s->len ? "; " : "", percent[0], percent[1]);
	if (!c->sessions[0])
		str_add(s, "; vkb-ab measures both sides interleaved");
}

/* Adds " (45 s)", " (14 min)" or " (2.5 h)", or nothing if it is not known. */
static void
write_minutes(struct str *s, double minutes)
{
	if (isnan(minutes))
		return;
	if (minutes < 1.5)
		str_printf(s, " (%.0f s)", 60 * minutes);
	else if (minutes < 90)
		str_printf(s, " (%.0f min)", minutes);
	else
		str_printf(s, " (%.1f h)", minutes / 60);
}

/* Adds what other programs did, and what would make unclear results clear: more
 * runs or rounds, or both sides interleaved. */
static void
add_advice(struct str *s, const struct comparison *c)
{
	struct next n;

	add_busy(s, c);
	if (c->sessions[0]) {
		add_sessions(s, c);
		return;
	}
	n = plan_more_runs(c);
	if (n.rows) {
		str_printf(s, "%s%zu more run%s", s->len ? "; " : "", n.more,
		    num_plural(n.more));
		write_minutes(s, n.minutes);
		str_add(s, " would decide ");
		add_results(s, n.rows, n.last);
	}
	if (n.lack)
		str_printf(s,
		    "%s%zu more run%s %s needed to judge %zu result%s",
		    s->len ? "; " : "", n.lack, num_plural(n.lack),
		    n.lack == 1 ? "is" : "are", n.few, num_plural(n.few));
	if (n.serial)
		str_printf(s,
		    "%sneighbouring runs resemble each other, so more runs add "
		    "little information; vkb-ab measures both sides "
		    "interleaved",
		    s->len ? "; " : "");
}

/* --- the headline */

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

const char *
report_find_canary(const struct comparison *c)
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
report_outlook(struct str *s, const struct comparison *c)
{
	const char *recorded = json_get_str(c->record, "outlook");

	if (c->record) {
		str_add(s, recorded ? recorded : "");
		return;
	}
	add_advice(s, c);
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

/* Adds a sentence, which the text begins without a capital and ends without a
 * full stop, or nothing. */
static void
add_sentence(struct str *s, struct str *text)
{
	capitalise_at(text, 0);
	if (text->len)
		str_printf(s, "%s%s.", s->len ? " " : "", text->s);
	str_clear(text);
}

void
report_caution(struct str *s, const struct comparison *c)
{
	const char *canary = report_find_canary(c);
	struct str t = {0};

	str_add(&t, canary ? canary : "");
	add_sentence(s, &t);
	report_same_server(&t, c);
	add_sentence(s, &t);
	str_free(&t);
}

void
report_headline(struct str *s, const struct comparison *c)
{
	struct brief b;
	struct str t = {0};

	if (c->record) {
		str_add(s, json_get_str(c->record, "headline"));
		return;
	}
	report_caution(s, c);
	b = brief_collect(c);
	str_add(s, s->len ? " " : "");
	brief_add_summary(s, &b);
	free(b.v);
	report_outlook(&t, c);
	add_sentence(s, &t);
	str_free(&t);
}
