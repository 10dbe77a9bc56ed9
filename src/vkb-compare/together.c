#include "together.h"
#include "changetext.h"
#include "judge.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "report.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
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

const char *
together_explain(const struct row *r)
{
	if (strcmp(r->name, "syscalls_per_req") == 0 && !r->builds_differ)
		return r->facts.ratio == 1 ||
			(!report_is_exact(r) &&
			    r->verdict >= VERDICT_EQUIVALENT)
		    ? NULL
		    : r->pair->syscalls;
	return together_is_work(r) ? r->pair->functions : NULL;
}

bool
together_is_time(const struct row *r)
{
	return !r->common &&
	    strcmp(metric_base(r->name),
		metric_primary(r->pair->side[0]->config)) == 0;
}

static bool
is_cpu(const struct row *r)
{
	return !r->common &&
	    strcmp(metric_base(r->name), "server_cpu_us_per_req") == 0;
}

bool
together_has(const struct row *r)
{
	return r->pair->together &&
	    (together_is_work(r) || together_is_time(r) || is_cpu(r));
}

static const struct verdict_facts *
get_facts(const struct row *r)
{
	return report_is_by_rest(r) ? &r->rest : &r->facts;
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
		return rose == str_ends(metric_base(r->name), "rps") ? BETTER
								     : WORSE;
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

/* Adds the first n bytes of the name of a metric, which are its unit. */
static void
write_metric(struct str *s, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addc(s, name[i] == '_' ? ' ' : name[i]);
}

/* Writes "1 more allocation", "2 more branch misses". */
static void
write_units(
    struct str *s, double by, const char *way, const char *name, size_t n)
{
	size_t from = s->len;
	bool one;

	together_write_count(s, by);
	one = strcmp(s->s + from, "1") == 0;
	str_printf(s, " %s ", way);
	write_metric(s, name, n);
	if (!one || !str_ends(s->s, "s"))
		return;
	s->len -= str_ends(s->s, "sses") ? 2 : 1;
	s->s[s->len] = '\0';
}

void
together_write_exact(struct str *s, const struct row *r)
{
	double by = r->facts.median[1] - r->facts.median[0];
	const char *way = by > 0 ? "more" : "fewer";
	size_t n = (size_t)(strstr(r->name, "_per_") - r->name);

	if (isnan(r->facts.ratio)) {
		write_units(s, fabs(by), way, r->name, n);
	} else {
		write_percent(s, r->facts.ratio);
		str_printf(s, " %s ", way);
		write_metric(s, r->name, n);
	}
	if (!str_ends(r->name, "_req"))
		write_metric(s, r->name + n, strlen(r->name + n));
}

/* "executes 3.3% more instructions per request (+155 in setCommand)", "takes
 * 12.5% more bytes per key (+8)" */
static void
add_work(struct str *s, const struct row *r)
{
	double by = r->facts.median[1] - r->facts.median[0];
	bool work = together_is_work(r);

	str_add(s, work ? "executes " : "takes ");
	together_write_exact(s, r);
	str_add(s, str_ends(r->name, "_req") ? " per request (" : " (");
	if (isnan(r->facts.ratio)) {
		str_add(s, "from 0 to ");
		together_write_count(s, r->facts.median[1]);
	} else if (work && r->pair->functions) {
		str_add(s, r->pair->functions);
	} else {
		str_addc(s, by > 0 ? '+' : '-');
		together_write_count(s, fabs(by));
	}
	str_addc(s, ')');
}

/* "is 2.9% slower [2.1, 3.6]", "has a p99 12.1% higher [8.1, 15.2]", "takes
 * 13.9% more CPU per request [12.1, 15.8]" */
static void
add_time(struct str *s, const struct row *r)
{
	const struct verdict_facts *f = get_facts(r);
	bool rps = strcmp(metric_base(r->name), "rps") == 0,
	     rose = f->ratio > 1;
	double lo = 100 * (rose ? f->lo95 - 1 : 1 - f->hi95);
	double hi = 100 * (rose ? f->hi95 - 1 : 1 - f->lo95);

	if (rps) {
		str_add(s, "is ");
	} else if (is_cpu(r)) {
		str_add(s, "takes ");
	} else {
		str_add(s, "has a ");
		metric_write_label(s, r->name);
		str_addc(s, ' ');
	}
	if (verdict_is_likely(r->verdict))
		str_add(s, "likely ");
	write_percent(s, f->ratio);
	if (is_cpu(r))
		str_printf(s, " %s CPU per request", rose ? "more" : "less");
	else
		str_printf(s, " %s", changetext_direction(r->name, f->ratio));
	if (!isnan(f->lo95))
		str_printf(s, " [%.1f, %.1f]", lo, hi);
	if (report_is_by_rest(r))
		str_add(s, " relative to the other cases");
}

/* The time of a case whose work changed. */
static void
add_time_of_change(struct str *s, const struct row *time, enum direction work)
{
	enum direction c = find_direction(time);

	switch (c) {
	case SAME:
		if (time->noise) {
			str_add(s, "; what differs in time is noise");
			return;
		}
		str_printf(s,
		    ", but is not %s: ", work == WORSE ? "slower" : "faster");
		metric_write_label(s, time->name);
		str_printf(s, " is within %.3g%%", 100 * time->margin);
		return;
	case UNCLEAR:
		str_add(s, "; its time is undecided (");
		report_reason(s, time);
		str_addc(s, ')');
		return;
	case TOO_FEW:
		str_add(s, "; too few runs to compare times");
		return;
	default:
		str_add(s, c == work ? " and " : ", but ");
		add_time(s, time);
	}
}

/* The time of a case that executes as much as before. Returns whether it
 * changed. */
static bool
add_time_of_same(struct str *s, const struct row *time)
{
	switch (find_direction(time)) {
	case SAME:
	case UNCLEAR:
	case TOO_FEW:
		return false;
	default:
		add_time(s, time);
		str_add(s,
		    " with the same instructions per request, so the cause is "
		    "memory, the kernel, waiting, or the machine");
		return true;
	}
}

/* What a busy machine leaves of the time: where the throughput is undecided,
 * the CPU time that a request takes may be known. */
static const struct row *
choose_time(const struct row *time, const struct row *cpu)
{
	enum direction c;

	if (!cpu || !cpu->gate)
		return time;
	c = find_direction(cpu);
	if (c == UNCLEAR || c == TOO_FEW ||
	    (time && find_direction(time) != UNCLEAR &&
		find_direction(time) != TOO_FEW))
		return time;
	return cpu;
}

/* Did the calls of the allocator change? What calls it is then told by the
 * functions, however few instructions they take. */
static bool
is_call(const struct row *r)
{
	return strstr(r->name, "allocations_per_req") && report_is_exact(r) &&
	    !r->builds_differ && r->verdict < VERDICT_EQUIVALENT;
}

/* 'calls': keep the functions in any case. */
static void
describe_pair(struct pairing *p, const struct row *work, const struct row *time,
    bool calls)
{
	enum direction c = find_direction(work);
	bool changed = c != SAME && c != UNCLEAR;
	struct str s = {0};

	markup_cut(&s, p->name[0], LONGEST);
	str_addc(&s, ' ');
	if (changed) {
		add_work(&s, work);
		if (time)
			add_time_of_change(&s, time, c);
	} else {
		if (!calls) {
			free(p->functions); /* what they differ by is noise */
			p->functions = NULL;
		}
		changed = time && c == SAME && add_time_of_same(&s, time);
	}
	p->together = changed ? mem_str(s.s) : NULL;
	str_free(&s);
}

void
together_describe(struct comparison *c)
{
	const struct row *r = c->rows, *end = r + c->nrows;

	/* Both are in the order of cases; common rows come last. */
	for (size_t i = 0; i < c->npairs; i++) {
		struct pairing *p = &c->pairs[i];
		const struct row *work = NULL, *time = NULL, *cpu = NULL;
		bool calls = false;

		for (; r < end && r->pair == p; r++) {
			calls = calls || is_call(r);
			if (together_is_work(r))
				work = r;
			else if (together_is_time(r))
				time = r;
			else if (is_cpu(r))
				cpu = r;
		}
		if (work)
			describe_pair(p, work, choose_time(time, cpu), calls);
	}
}
