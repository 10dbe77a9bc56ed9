#include "together.h"
#include "json.h"
#include "judge.h"
#include "markup.h"
#include "mem.h"
#include "report.h"
#include "str.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 100 }; /* bytes of a name */

/* How a metric changed. */
enum direction { WORSE, BETTER, SAME, UNCLEAR, TOO_FEW };

bool
together_is_work(const struct row *r)
{
	return strcmp(r->name, "instructions_per_req") == 0 &&
	    report_is_exact(r) && !r->builds_differ;
}

static bool
is_time(const struct row *r)
{
	return !r->common &&
	    strcmp(r->name, metric_primary(r->pair->side[0]->config)) == 0;
}

bool
together_has(const struct row *r)
{
	return r->pair->kind != TOGETHER_NONE &&
	    (together_is_work(r) || is_time(r));
}

static const struct verdict_facts *
get_facts(const struct row *r)
{
	return r->has_rest ? &r->rest : &r->facts;
}

/* Is the value larger, also where it was 0 and there is no ratio? */
static bool
has_risen(const struct row *r)
{
	const struct verdict_facts *f = get_facts(r);

	return isnan(f->ratio) ? f->median[1] > f->median[0] : f->ratio > 1;
}

/* Goes by the values: a policy may say that neither direction is better. */
static enum direction
find_direction(const struct row *r)
{
	bool rose = has_risen(r);

	switch (r->verdict) {
	case VERDICT_EQUIVALENT:
		/* A count has changed even within the margin of a policy. */
		if (!together_is_work(r) ||
		    !(fabs(r->facts.ratio - 1) > r->metric.margin))
			return SAME;
		return rose ? WORSE : BETTER;
	case VERDICT_INCONCLUSIVE:
		return UNCLEAR;
	case VERDICT_INSUFFICIENT:
		return TOO_FEW;
	default:
		return rose == str_ends(r->name, "rps") ? BETTER : WORSE;
	}
}

void
together_write_count(struct str *s, double v)
{
	if (fabs(v) < 10)
		str_printf(s, "%.3g", v);
	else
		str_printf(s, fabs(v - round(v)) < .05 ? "%.0f" : "%.1f", v);
}

/* Writes 3.3% or 0.57%: counts are exact, so small changes matter. */
static void
write_percent(struct str *s, double ratio)
{
	double v = 100 * fabs(ratio - 1);

	str_printf(s, v < 1 ? "%.2f%%" : "%.1f%%", v);
}

/* Writes "1 allocation", "2 branch misses" for 'by' of a metric of which 'n'
 * bytes of the name are the unit; 'way' is the word between. */
static void
write_units(
    struct str *s, double by, const char *way, const char *name, size_t n)
{
	size_t from = s->len;
	bool one;

	together_write_count(s, by);
	one = strcmp(s->s + from, "1") == 0;
	str_printf(s, " %s ", way);
	from = s->len;
	str_addn(s, name, n);
	for (char *p = s->s + from; *p; p++)
		if (*p == '_')
			*p = ' ';
	if (!one || !str_ends(s->s, "s"))
		return;
	s->len -= str_ends(s->s, "sses") ? 2 : 1;
	s->s[s->len] = '\0';
}

/* "3.3% more instructions (exactly; setCommand +155)" */
static void
add_work(struct str *s, const struct row *r)
{
	static const char what[] = "instructions";
	double by = r->facts.median[1] - r->facts.median[0];
	const char *way = by > 0 ? "more" : "fewer";

	if (isnan(r->facts.ratio)) {
		write_units(s, fabs(by), way, what, strlen(what));
	} else {
		write_percent(s, r->facts.ratio);
		str_printf(s, " %s %s", way, what);
	}
	str_add(s, " (exactly");
	if (r->pair->functions) {
		str_printf(s, "; %s)", r->pair->functions);
		return;
	}
	str_add(s, ", ");
	together_write_count(s, fabs(by));
	str_add(s, " per request)");
}

/* "2.9% slower [2.1, 3.6], certain" */
static void
add_time(struct str *s, const struct row *r)
{
	const struct verdict_facts *f = get_facts(r);
	bool rps = strcmp(r->name, "rps") == 0, rose = f->ratio > 1;
	double lo = 100 * (rose ? f->lo95 - 1 : 1 - f->hi95);
	double hi = 100 * (rose ? f->hi95 - 1 : 1 - f->lo95);

	if (verdict_is_likely(r->verdict))
		str_add(s, "likely ");
	write_percent(s, f->ratio);
	if (rps)
		str_add(s, rose ? " faster" : " slower");
	else
		str_printf(s, " %s %s", rose ? "more" : "less", r->name);
	if (!isnan(f->lo95))
		str_printf(s, " [%.1f, %.1f]", lo, hi);
	if (r->has_rest)
		str_add(s, " relative to all cases");
	if (r->certain)
		str_add(s, ", certain");
}

/* The time of a case whose work changed. */
static enum together_kind
add_time_of_change(struct str *s, const struct row *time, enum direction work)
{
	enum together_kind kind =
	    work == WORSE ? TOGETHER_MORE_WORK : TOGETHER_LESS_WORK;
	enum direction c = find_direction(time);
	bool firm = !verdict_is_likely(time->verdict);

	switch (c) {
	case SAME:
		if (time->noise) {
			str_add(s, "; what differs in time is noise");
			return kind;
		}
		str_printf(s, ", but not %s: %s is within %.3g%%",
		    work == WORSE ? "slower" : "faster", time->name,
		    100 * time->margin);
		return kind;
	case UNCLEAR:
		str_add(s, "; this machine is too noisy to compare times");
		return kind;
	case TOO_FEW:
		str_add(s, "; too few runs to compare times");
		return kind;
	default:
		str_add(s, c == work ? " and " : ", but ");
		add_time(s, time);
		return firm && (c == WORSE || c == work) ? TOGETHER_TIME : kind;
	}
}

/* The time of a case that executes as much as before. */
static enum together_kind
add_time_of_same(struct str *s, const struct row *time)
{
	switch (find_direction(time)) {
	case SAME:
		return TOGETHER_NONE;
	case UNCLEAR:
		str_add(s,
		    "no more work per request; this machine is too noisy to "
		    "compare times");
		return TOGETHER_UNCLEAR;
	case TOO_FEW:
		str_add(s,
		    "no more work per request; too few runs to compare times");
		return TOGETHER_TOO_FEW;
	default:
		add_time(s, time);
		str_add(s,
		    ", with the same work per request, so the cause is memory, "
		    "the kernel, waiting, or the machine");
		return TOGETHER_TIME;
	}
}

void
together_write_exact(struct str *s, const struct row *r)
{
	double by = r->facts.median[1] - r->facts.median[0];
	const char *per = strstr(r->name, "_per_");

	str_add(s, "takes ");
	write_units(s, fabs(by), by > 0 ? "more" : "fewer", r->name,
	    (size_t)(per - r->name));
	str_printf(s, " per %s",
	    str_ends(r->name, "_req") ? "request" : per + strlen("_per_"));
	if (isnan(r->facts.ratio)) {
		str_add(s, " (from 0 to ");
		together_write_count(s, r->facts.median[1]);
		str_addc(s, ')');
	} else {
		str_printf(s, " (%+.1f%%)", 100 * (r->facts.ratio - 1));
	}
	str_add(s, ", exactly");
	if (together_is_work(r) && r->pair->functions)
		str_printf(s, ": %s", r->pair->functions);
}

static void
describe_pair(struct pairing *p, const struct row *work, const struct row *time)
{
	enum direction c = find_direction(work);
	struct str s = {0};

	markup_cut(&s, p->name[0], LONGEST);
	str_add(&s, time ? ": " : " ");
	if (c == SAME) {
		p->kind = time ? add_time_of_same(&s, time) : TOGETHER_NONE;
	} else if (time) {
		add_work(&s, work);
		p->kind = add_time_of_change(&s, time, c);
	} else {
		together_write_exact(&s, work);
		p->kind = c == WORSE ? TOGETHER_MORE_WORK : TOGETHER_LESS_WORK;
	}
	p->together = p->kind == TOGETHER_NONE ? NULL : mem_str(s.s);
	str_free(&s);
}

void
together_describe(struct comparison *c)
{
	const struct row *r = c->rows, *end = r + c->nrows;

	/* Both are in the order of cases; common rows come last. */
	for (size_t i = 0; i < c->npairs; i++) {
		struct pairing *p = &c->pairs[i];
		const struct row *work = NULL, *time = NULL;

		for (; r < end && r->pair == p; r++)
			if (together_is_work(r))
				work = r;
			else if (is_time(r))
				time = r;
		if (work)
			describe_pair(p, work, time);
	}
}
