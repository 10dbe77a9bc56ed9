#include "budget.h"
#include "clock.h"
#include "deciding.h"
#include "err.h"
#include "num.h"
#include "schedule.h"
#include "str.h"

#include <math.h>

#define TOLD 5 /* undecided cases that are named */

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
	return !a->is_decided[cas] && schedule_has_build(a, cas);
}

/* Ends the cases that are decided after the runs made so far. */
static void
look_at_cases(struct budget *b)
{
	static const char *const words[] = {[DECIDING_OPEN] = "open",
	    [DECIDING_SAME] = "decided, the same",
	    [DECIDING_CHANGED] = "decided, changed"};
	struct schedule *a = b->schedule;

	for (size_t c = 0; c < a->ncases; c++) {
		struct str open = {0};
		enum deciding_state state;

		if (!is_open(a, c))
			continue;
		state = deciding_look(a->deciding, c, b->made,
		    schedule_dropped_builds(a, c), &open);
		a->is_decided[c] = state != DECIDING_OPEN;
		if (b->verbose)
			err_say("%s: %s after %zu runs%s%s", a->cases[c].id,
			    words[state], b->made, open.len ? ": " : "",
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

void
budget_end(struct budget *b)
{
	const struct schedule *a = b->schedule;
	double spent = b->all_s - budget_find_left(b);
	struct str which = {0};
	char buf[NUM_BUF];
	size_t n = 0;

	if (!a->has_budget)
		return;
	if (b->made > b->looked)
		look_at_cases(b);
	for (size_t c = 0; c < a->ncases; c++) {
		if (!is_open(a, c) || ++n > TOLD)
			continue;
		str_add(&which, n > 1 ? ", " : "");
		str_visible(&which, a->names[c]);
		str_add(&which, " (");
		deciding_look(a->deciding, c, b->made,
		    schedule_dropped_builds(a, c), &which);
		str_add(&which, ")");
	}
	if (n && !b->quiet)
		err_say("%zu of %zu case%s %s undecided after %s: %s%s; "
			"'--budget %.0f' gives %s more",
		    n, b->cases, num_plural((double)b->cases),
		    n == 1 ? "is" : "are", num_seconds(buf, spent), which.s,
		    n > TOLD ? ", ..." : "",
		    ceil(2 * fmax(spent, b->all_s) / (double)b->cases),
		    n == 1 ? "it" : "them");
	str_free(&which);
}
