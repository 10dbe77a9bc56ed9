#include "budget.h"
#include "clock.h"
#include "deciding.h"
#include "err.h"
#include "num.h"
#include "progress.h"
#include "schedule.h"
#include "str.h"
#include "vkb-load/plan/builds.h"

#include <math.h>

#define TOLD 2       /* cases that a message names */
#define MOST_S 1e8   /* no one waits for years of runs */
#define WORTH_S 3600 /* for more, no longer budget is proposed */

void
budget_open(struct budget *b, struct schedule *a, double each_s)
{
	b->schedule = a;
	b->look = a->runs;
	for (size_t c = 0; c < a->ncases; c++)
		b->cases += schedule_has_build(a, c);
	b->all_s = each_s * (double)b->cases;
}

void
budget_begin(struct budget *b)
{
	b->begun = clock_ns();
}

double
budget_find_left(const struct budget *b)
{
	return b->all_s -
	    (b->begun ? (double)(clock_ns() - b->begun) / 1e9 : 0);
}

void
budget_announce(const struct budget *b, struct str *to)
{
	size_t runs = b->schedule->runs;
	bool all;
	double known = schedule_estimate(b->schedule, 0, SIZE_MAX, &all);
	char buf[NUM_BUF];

	str_printf(to,
	    "at least %zu run%s of %s%zu case%s, at most %s; a case ends when "
	    "it is decided",
	    runs, num_plural((double)runs), b->cases == 1 ? "" : "each of ",
	    b->cases, num_plural((double)b->cases),
	    num_seconds(buf, fmax(known, b->all_s)));
}

bool
budget_make_turns(struct budget *b)
{
	struct schedule *a = b->schedule;
	size_t first = b->made + 1;
	bool all;

	if (b->made && !a->has_budget)
		return false;
	b->next = b->made && schedule_has_rounds(a) ? first : b->look;
	for (; b->next >= first; b->next--) {
		schedule_make_turns(a, first, b->next);
		/* Turns that an earlier session made take no time. */
		if (!b->made || (!a->nturns && b->next <= a->last) ||
		    (a->nturns &&
			schedule_estimate(a, 0, SIZE_MAX, &all) <=
			    budget_find_left(b)))
			return true;
	}
	return false;
}

/* Is a case to be decided? */
static bool
is_open(const struct schedule *a, size_t cas)
{
	return a->ends[cas] == SCHEDULE_OPEN && schedule_has_build(a, cas);
}

/* Returns the seconds of a run of each build, or 0: not known yet. */
static double
find_round_s(const struct schedule *a, size_t cas)
{
	double s = 0,
	       one = progress_estimate(&a->progress, cas, &a->cases[cas].load);

	for (size_t i = 0; i < a->builds->n; i++)
		s += schedule_dropped_builds(a, cas)[i] ? 0 : one;
	return fmax(0, s);
}

/* Would a case still be open by far if it had all the time that is left? */
static bool
is_hopeless(const struct budget *b, size_t cas, const struct deciding_case *v)
{
	double s = find_round_s(b->schedule, cas);
	double runs = (double)b->made + fmax(0, budget_find_left(b)) / s;

	return s > 0 && budget_find_left(b) >= s && v->least > runs;
}

static enum schedule_end
choose_end(const struct budget *b, size_t cas, const struct deciding_case *v)
{
	if (v->state != DECIDING_OPEN)
		return SCHEDULE_DECIDED;
	return is_hopeless(b, cas, v) ? SCHEDULE_GIVEN_UP : SCHEDULE_OPEN;
}

/* Ends the cases that are decided after the runs made so far, and those that
 * will not be. */
static void
look_at_cases(struct budget *b)
{
	static const char *const words[] = {[DECIDING_OPEN] = "open",
	    [DECIDING_SAME] = "decided, the same",
	    [DECIDING_CHANGED] = "decided, changed"};
	struct schedule *a = b->schedule;
	struct deciding_case v;

	for (size_t c = 0; c < a->ncases; c++) {
		struct str open = {0};

		if (!is_open(a, c))
			continue;
		v = deciding_look(a->deciding, c, b->made,
		    schedule_dropped_builds(a, c), &open);
		a->ends[c] = choose_end(b, c, &v);
		if (b->verbose)
			err_say("%s: %s after %zu runs%s%s", a->cases[c].id,
			    a->ends[c] == SCHEDULE_GIVEN_UP ? "given up"
							    : words[v.state],
			    b->made, open.len ? ": " : "",
			    open.len ? open.s : "");
		str_free(&open);
	}
	b->looked = b->made;
}

void
budget_end_turns(struct budget *b)
{
	double at = (double)b->schedule->runs;

	b->made = b->next;
	if (!b->schedule->has_budget || b->made < b->look)
		return;
	look_at_cases(b);
	while (round(at) <= (double)b->made)
		at *= 1.5;
	b->look = (size_t)round(at);
}

/* Adds ": given up, as about 900 more runs, 1h05m, would decide it". Returns
 * the seconds of these runs; INFINITY: no number of them does; NAN: not known.
 */
static double
add_needed(const struct budget *b, size_t cas, double needed, struct str *to)
{
	double more = ceil(needed) - (double)b->made, s;
	bool given_up = b->schedule->ends[cas] == SCHEDULE_GIVEN_UP;
	char buf[NUM_BUF];

	s = more * find_round_s(b->schedule, cas);
	if (!(more > 0))
		return NAN;
	str_add(to, given_up ? ": given up, as " : ": ");
	if (s < MOST_S && isfinite(more)) {
		str_printf(to, "about %.0f more run%s", more, num_plural(more));
		if (s > 0)
			str_printf(to, ", %s,", num_seconds(buf, s));
		str_add(to, " would decide it");
	} else
		str_add(to, "no number of runs would decide it");
	if (!(s > 0))
		return NAN;
	return s < MOST_S ? s : INFINITY;
}

/* Adds "SET (rps +-2.9 %, margin 2 %: ...)". Returns as add_needed. */
static double
add_undecided(const struct budget *b, size_t cas, struct str *to)
{
	const struct schedule *a = b->schedule;
	struct deciding_case v;
	double more;

	str_visible(to, a->names[cas]);
	str_add(to, " (");
	v = deciding_look(
	    a->deciding, cas, b->made, schedule_dropped_builds(a, cas), to);
	more = add_needed(b, cas, v.needed, to);
	str_add(to, ")");
	return more;
}

void
budget_end(struct budget *b)
{
	const struct schedule *a = b->schedule;
	double spent = b->all_s - budget_find_left(b), more = 0;
	struct str which = {0};
	char buf[NUM_BUF];
	size_t n = 0;

	if (!a->has_budget)
		return;
	if (b->made > b->looked)
		look_at_cases(b);
	for (size_t c = 0; c < a->ncases; c++) {
		struct str one = {0};

		if (a->ends[c] == SCHEDULE_DECIDED || !schedule_has_build(a, c))
			continue;
		more += add_undecided(b, c, &one);
		if (++n <= TOLD)
			str_printf(&which, "%s%s", n > 1 ? ", " : "", one.s);
		str_free(&one);
	}
	if (isnan(more)) /* as much again */
		more = 2 * fmax(spent, b->all_s) - spent;
	if (n > TOLD)
		str_add(&which, ", ...");
	if (more < WORTH_S)
		str_printf(&which, "; '--budget %.0f' gives %s more",
		    ceil((spent + more) / (double)b->cases),
		    n == 1 ? "it" : "them");
	if (n && !b->quiet)
		err_say("%zu of %zu case%s %s undecided after %s: %s", n,
		    b->cases, num_plural((double)b->cases),
		    n == 1 ? "is" : "are", num_seconds(buf, spent), which.s);
	str_free(&which);
}
