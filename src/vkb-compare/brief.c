#include "brief.h"
#include "changetext.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "report.h"
#include "str.h"
#include "table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- the cases */

/* Returns the row by which a case is judged first. */
static const struct row *
find_first(const struct brief_case *b)
{
	const char *primary;

	for (size_t i = 0; i < b->n; i++)
		if (b->rows[i].primary && !b->rows[i].common)
			return &b->rows[i];
	primary = metric_primary(cases_config(b->pair->side[0]));
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->rows[i].name, primary) == 0)
			return &b->rows[i];
	return b->rows;
}

static int
compare_cases(const void *a, const void *b)
{
	const struct brief_case *x = a, *y = b;

	if (x->worst && y->worst &&
	    report_rank(x->worst) == report_rank(y->worst) &&
	    report_is_work(x->worst) != report_is_work(y->worst))
		return report_is_work(x->worst) - report_is_work(y->worst);
	if (x->worst && y->worst)
		return report_compare(x->worst, y->worst);
	return !x->worst - !y->worst;
}

/* Is the row an exact count of what a server does for a request? */
static bool
is_work(const struct row *r)
{
	size_t n = strlen(r->name), end = strlen("_per_req");

	return report_is_exact(r) && !r->builds_differ && n > end &&
	    strcmp(r->name + n - end, "_per_req") == 0;
}

/* Does the first metric decide, though another one became better? It does where
 * it is undecided or waived; less work is an answer of its own. */
static bool
is_first_open(const struct brief_case *b)
{
	const struct row *r = b->worst;

	return r && b->first->gate && !is_work(r) &&
	    (b->first->waived || b->first->verdict >= VERDICT_INCONCLUSIVE) &&
	    (r->verdict == VERDICT_IMPROVEMENT ||
		r->verdict == VERDICT_LIKELY_IMPROVEMENT);
}

/* Says the row of memory that is not given back more than the one that decides
 * so far, the calls that took it? */
static bool
is_leak(const struct row *r, const struct row *worst)
{
	return worst && strcmp(worst->name, "allocations_per_req") == 0 &&
	    strcmp(r->name, "unfreed_allocations_per_req") == 0;
}

/* Finds the row that decides; that of the first metric among equals. */
static void
finish_case(struct brief_case *b)
{
	size_t least = SIZE_MAX;

	b->first = find_first(b);
	for (size_t i = 0; i < b->n; i++) {
		const struct row *r = &b->rows[i];
		size_t rank = report_rank(r);

		if (!r->gate ||
		    (rank >= least &&
			!(rank == least &&
			    (r == b->first || is_leak(r, b->worst)))))
			continue;
		least = rank;
		b->worst = r;
	}
	if (is_first_open(b))
		b->worst = b->first;
}

struct brief
brief_collect(const struct comparison *c)
{
	struct brief b = {c, mem_array(c->nrows + 1, sizeof *b.v), 0};

	/* The rows of a case follow each other. */
	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];

		if (!b.n || b.v[b.n - 1].pair != r->pair) {
			b.v[b.n] =
			    (struct brief_case){.pair = r->pair, .rows = r};
			b.n++;
		}
		b.v[b.n - 1].n++;
	}
	for (size_t i = 0; i < b.n; i++)
		finish_case(&b.v[i]);
	if (b.n)
		qsort(b.v, b.n, sizeof *b.v, compare_cases);
	return b;
}

bool
brief_is_change(const struct brief_case *b)
{
	return b->worst &&
	    (b->worst->waived || b->worst->verdict < VERDICT_EQUIVALENT);
}

const char *
brief_answer(const struct brief_case *b)
{
	const struct row *r = b->worst;

	if (!r)
		return "not judged";
	if (r->waived)
		return "waived";
	if (r->noise)
		return "noise";
	if (r->outweighed && verdict_is_slight(r->name, &r->facts))
		return verdict_name_outweighed(r->name, &r->facts);
	if (is_work(r) && r->verdict == VERDICT_REGRESSION)
		return "more work";
	if (is_work(r) && r->verdict == VERDICT_IMPROVEMENT)
		return "less work";
	return verdict_word(r->verdict);
}

void
brief_write_answer(struct str *s, const struct brief_case *b)
{
	str_add(s, brief_answer(b));
	if (!b->worst || b->worst == b->first || is_work(b->worst) ||
	    b->worst->verdict == VERDICT_EQUIVALENT)
		return;
	str_add(s, ": ");
	metric_write_label(s, b->worst->name);
}

/* --- the table */

static const struct row *
find_row(const struct brief_case *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(metric_base(b->rows[i].name), name) == 0 &&
		    b->rows[i].gate)
			return &b->rows[i];
	return NULL;
}

/* Returns the row that a column shows; NULL: none. */
static const struct row *
choose_row(const struct brief_case *b, enum column column)
{
	static const char *const names[OPTIONAL] = {[P50] = "p50_latency_ms",
	    [P99] = "p99_latency_ms",
	    [WORK] = "instructions_per_req"};
	const struct row *r;

	if (!names[column])
		return b->first;
	r = find_row(b, names[column]);
	return r == b->first ? NULL : r;
}

static void
write_change(struct str *s, const struct row *r)
{
	struct changetext t = report_changetext(r);

	changetext_percent(s, &t);
}

/* Is the row claimed by its change relative to the other cases? */
static bool
is_claimed_by_rest(const struct row *r)
{
	return r->verdict < VERDICT_LIKELY_REGRESSION && report_is_by_rest(r);
}

/* Writes what a column says of a row; 'words': with words. What is claimed
 * relative to the other cases is shown so, as a line below the row says. */
static void
write_cell(struct str *s, struct layout *l, const struct row *r, bool words)
{
	struct changetext t = report_changetext(r), rest = report_rest(r);

	if (!words && is_claimed_by_rest(r)) {
		changetext_percent(s, &rest);
		return;
	}
	l->legend |= changetext_cell(s, &t, r->verdict, r->noise, words);
}

/* Writes "17.7K -> 21.9K", "1.25 us -> 1.31 us". */
static void
write_pair(struct str *s, const struct row *r)
{
	char a[NUM_BUF], b[NUM_BUF];
	double v[2];

	report_values(r, v);
	str_printf(s, "%s -> %s", num_amount(a, v[0], r->metric->unit),
	    num_amount(b, v[1], r->metric->unit));
}

static void
write_values(struct str *s, const struct layout *l, const struct row *r)
{
	if (r->common) /* relative to the baseline */
		return;
	write_pair(s, r);
	if (!l->title && *r->metric->unit && !num_is_time(r->metric->unit))
		str_printf(s, " %s", r->metric->unit);
}

/* Does a column of the table show the row? */
static bool
is_in_column(
    const struct layout *l, const struct brief_case *b, const struct row *r)
{
	if (r == b->first)
		return true;
	for (enum column i = P50; i < OPTIONAL; i++)
		if (l->has[i] && choose_row(b, i) == r)
			return true;
	return false;
}

static const char *
describe_verdict(const struct row *r)
{
	struct brief_case one = {.worst = r};

	return brief_answer(&one);
}

/* Writes "8.0% slower", "p99 12% higher", "3.3% more instructions". */
static void
write_change_words(struct str *s, const struct row *r)
{
	bool exact = report_is_exact(r) && r->facts.ratio > 0;
	struct changetext t = exact ? report_changetext(r) : report_shown(r);

	changetext_named(s, &t);
	if (exact && report_functions(r) && !report_is_work(r))
		str_printf(s, ": %s", report_functions(r));
	if (!exact && report_is_by_rest(r))
		str_add(s, " relative to the other cases");
}

void
brief_add_rest(
    struct str *s, const struct layout *l, const struct brief_case *b)
{
	const struct row *work = find_row(b, "instructions_per_req");

	for (size_t i = 0; i < b->n; i++) {
		const struct row *r = &b->rows[i];

		if (r->gate && is_claimed_by_rest(r)) {
			str_add(s, s->len ? "; " : "also ");
			write_change_words(s, r);
			continue;
		}
		if (!r->gate || is_in_column(l, b, r) ||
		    (!r->waived && r != b->worst &&
			r->verdict >= VERDICT_EQUIVALENT))
			continue;
		/* A name at the start could be a command to a CI system. */
		str_add(s, s->len ? "; " : "also ");
		metric_write_label(s, r->name);
		str_addc(s, ' ');
		if (r->metric->exact || r->rare) {
			write_pair(s, r);
			str_add(s, ", ");
		}
		(r->verdict < VERDICT_EQUIVALENT ? write_change
						 : report_change)(s, r);
		str_printf(s, r->rare ? ": %s" : " %s", describe_verdict(r));
		if (report_functions(r) && !report_is_work(r))
			str_printf(s, ", %s", report_functions(r));
	}
	if (l->narrow >= NO_FUNCTIONS && work && b->pair->functions)
		str_printf(s, "%sinstructions: %s", s->len ? "; " : "",
		    b->pair->functions);
	if (b->worst && b->worst->waived)
		str_printf(s, "%swaived until %s: %s", s->len ? "; " : "",
		    b->worst->waiver.expires, b->worst->waiver.reason);
}

static void
add_work_cell(struct str *s, struct layout *l, const struct brief_case *b)
{
	const struct row *r = choose_row(b, WORK);
	const char *functions = b->pair->functions;

	if (r)
		write_cell(s, l, r, false);
	if (l->narrow >= NO_FUNCTIONS || !functions ||
	    !find_row(b, "instructions_per_req"))
		return;
	str_add(s, s->len ? ", " : "");
	str_addn(s, functions, strcspn(functions, ","));
}

const struct row *
brief_add_cell(struct str *s, struct layout *l, const struct brief_case *b,
    enum column which)
{
	const struct row *r = choose_row(b, which);

	if (which == VALUES)
		write_values(s, l, r);
	else if (which == WORK)
		add_work_cell(s, l, b);
	else if (r)
		write_cell(s, l, r, which == CHANGE && l->narrow < NO_WORDS);
	return r;
}

/* Adds the first cells: the sign, or the answer with its mark, and the name. */
static void
add_head_cells(
    struct table *t, const struct layout *l, const struct brief_case *b)
{
	struct str s = {0};

	if (l->marks) {
		str_printf(
		    &s, "%s ", b->worst ? report_mark(b->worst->verdict) : "");
		brief_write_answer(&s, b);
		table_take(t, str_take(&s));
	} else {
		table_cell(t, b->worst ? report_sign(b->worst->verdict) : " ");
		table_style(t, b->worst ? report_row_colour(b->worst) : NULL);
	}
	str_add(&s, "");
	markup_cut(&s, b->pair->name[0], l->name);
	table_take(t, str_take(&s));
}

/* Adds the cells of a case: its sign and name, those of the columns, the
 * answer; with marks the answer and the name, and at the end the rest. */
static void
add_row(struct table *t, struct layout *l, const struct brief_case *b)
{
	struct str s = {0};

	add_head_cells(t, l, b);
	for (enum column i = 0; i < OPTIONAL; i++) {
		const struct row *r;

		if (!l->has[i])
			continue;
		r = brief_add_cell(&s, l, b, i);
		table_take(t, str_take(&s));
		if (r && (r == b->worst || brief_is_change(b)))
			table_style(t, report_row_colour(r));
	}
	if (l->rest) {
		str_add(&s, "");
		brief_add_rest(&s, l, b);
		table_cell(t, s.s + (str_starts(s.s, "also ") ? 5 : 0));
		str_free(&s);
	}
	if (l->marks)
		return;
	brief_write_answer(&s, b);
	table_take(t, str_take(&s));
	table_style(t, b->worst ? report_row_colour(b->worst) : NULL);
}

const char *
brief_choose_title(const struct brief *b)
{
	const struct row *one = NULL;

	for (size_t i = 0; i < b->n; i++) {
		if (b->v[i].first->common)
			continue;
		if (one && strcmp(one->name, b->v[i].first->name) != 0)
			return NULL;
		one = b->v[i].first;
	}
	return one ? one->name : NULL;
}

void
brief_choose_columns(struct layout *l, const struct brief *b, size_t n)
{
	bool work = false;

	for (enum column i = 0; i < OPTIONAL; i++) {
		l->has[i] = i <= CHANGE;
		for (size_t k = 0; k < n && !l->has[i]; k++)
			l->has[i] = choose_row(&b->v[k], i) != NULL;
	}
	for (size_t k = 0; k < n; k++)
		work |= b->v[k].pair->functions != NULL;
	l->has[WORK] |= work && l->narrow < NO_FUNCTIONS;
	l->has[P50] &= l->narrow < NO_P50;
	l->has[P99] &= l->narrow < NO_P99;
}

const char *const brief_titles[OPTIONAL] = {[CHANGE] = "change",
    [P50] = ">p50",
    [P99] = ">p99",
    [WORK] = "work (exact)"};

static void
add_titles(struct table *t, const struct layout *l)
{
	struct str s = {0};

	table_titles(t, l->marks ? "answer|case" : "|");
	for (enum column i = 0; i < OPTIONAL; i++)
		if (l->has[i] && i != VALUES)
			table_titles(t,
			    i == WORK && l->narrow >= NO_FUNCTIONS
				? "work"
				: brief_titles[i]);
		else if (l->has[i]) {
			str_add(&s, "");
			if (l->title)
				metric_write_label(&s, l->title);
			table_column(t, s.s, TABLE_LEFT);
		}
	if (l->rest || !l->marks)
		table_titles(t, l->rest ? "also" : "answer");
	str_free(&s);
}

/* Does a case have changes that its columns do not show? */
static bool
has_rest(const struct layout *l, const struct brief *b, size_t n)
{
	struct str s = {0};
	bool any = false;

	for (size_t i = 0; i < n && !any; i++) {
		brief_add_rest(&s, l, &b->v[i]);
		any = s.len > 0;
	}
	str_free(&s);
	return any;
}

struct table *
brief_make_table(const struct brief *b, struct layout *l, size_t n)
{
	struct table *t = table_new();

	brief_choose_columns(l, b, n);
	l->legend = false;
	l->rest = l->marks && has_rest(l, b, n);
	add_titles(t, l);
	for (size_t i = 0; i < n; i++)
		add_row(t, l, &b->v[i]);
	return t;
}

/* --- the summary */

enum {
	NAMED = 4,   /* cases of an answer that are named */
	LONGEST = 60 /* bytes of a name */
};

/* Cases with one answer, which follow each other. */
struct answer {
	const struct brief_case *v;
	size_t n;     /* with what all cases have in common */
	size_t cases; /* without it */
	bool reasons; /* each case has its own */
	bool works;   /* of instructions, which a sentence says in its place */
};

/* Has the case a sentence of its own about what decides it? */
static bool
has_sentence(const struct brief_case *b)
{
	return b->pair->together && report_has_together(b->worst);
}

static void
add_name(struct str *s, const struct brief_case *b)
{
	if (b->worst && b->worst != b->first && !b->worst->common) {
		metric_write_label(s, b->worst->name);
		str_add(s, " of ");
	}
	markup_cut(s, b->pair->name[0], LONGEST);
	str_add(s, b->worst->common ? " together" : "");
}

/* Adds "the slowest 1% of requests; " for a p99, once a report. */
static void
explain_tail(struct str *s, const struct brief_case *b, bool *told)
{
	double share = metric_tail(b->worst->name);

	if (share > 0 && b->worst != b->first && !*told) {
		str_printf(s, "the slowest %.3g%% of requests; ", 100 * share);
		*told = true;
	}
}

/* Adds "runs vary by 34%; bytes per key 16.7% lower": why a case is undecided,
 * and what else became better. */
static void
add_reason(struct str *s, const struct brief_case *b)
{
	report_reason(s, b->worst);
	for (size_t i = 0; i < b->n; i++) {
		if (!report_is_judged(&b->rows[i]) ||
		    b->rows[i].verdict != VERDICT_IMPROVEMENT)
			continue;
		str_add(s, "; ");
		write_change_words(s, &b->rows[i]);
	}
}

static struct answer
find_answer(const struct brief *b, size_t from)
{
	const char *word = brief_answer(&b->v[from]);
	struct str first = {0}, other = {0};
	struct answer a = {.v = &b->v[from], .works = true};

	for (; from + a.n < b->n && strcmp(brief_answer(&a.v[a.n]), word) == 0;
	     a.n++) {
		const struct row *r = a.v[a.n].worst;

		a.cases += !a.v[a.n].first->common;
		a.works = a.works && r && r->verdict < VERDICT_EQUIVALENT &&
		    !r->waived && report_is_work(r) &&
		    (has_sentence(&a.v[a.n]) || r->facts.ratio > 0);
		if (!a.v->worst || a.v->worst->verdict != VERDICT_INCONCLUSIVE)
			continue;
		str_clear(&other);
		add_reason(a.n ? &other : &first, &a.v[a.n]);
		a.reasons |= a.n && strcmp(first.s, other.s) != 0;
	}
	str_free(&first);
	str_free(&other);
	return a;
}

/* Adds "SET (8.1% slower)", or what one case does in a sentence. */
static void
add_changed(struct str *s, const struct answer *a, size_t i)
{
	const struct brief_case *b = &a->v[i];
	const struct row *r = b->worst;

	if (a->n == 1 && has_sentence(b)) {
		str_add(s, b->pair->together);
		return;
	}
	markup_cut(s, b->pair->name[0], LONGEST);
	if (a->works) {
		str_add(s, i ? " " : " executes ");
		write_change_words(s, r);
		return;
	}
	str_add(s, r->common ? " together (" : " (");
	write_change_words(s, r);
	str_addc(s, ')');
}

/* Adds the cases of an answer, at most NAMED of them; 'all' has those of the
 * report. *told: what a tail is has been said. */
static void
add_cases(struct str *s, const struct answer *a, size_t all, bool *told)
{
	const struct row *r = a->v->worst;
	bool changed = brief_is_change(a->v);
	bool open = r && r->verdict == VERDICT_INCONCLUSIVE;
	size_t named = 0, shown = 0, i = 0;
	char buf[NUM_BUF];

	if (!r || (!changed && !open && r->verdict != VERDICT_INSUFFICIENT) ||
	    r->noise) {
		if (a->cases == all)
			str_printf(s, all == 1 ? "the only case" : "%s cases",
			    num_all(buf, all));
		else
			str_printf(s, "%zu case%s", a->cases,
			    num_plural((double)a->cases));
		return;
	}
	if (open && !a->reasons && a->cases == all && all > 1 &&
	    a->v->worst == a->v->first) {
		str_printf(s, "%s cases", num_all(buf, all));
		i = a->n;
		named = a->cases;
	}
	for (; i < a->n && named < NAMED; i++) {
		const struct brief_case *b = &a->v[i];

		if (b->first->common && !changed)
			continue;
		str_add(s, shown++ ? ", " : "");
		named += !b->first->common;
		if (changed) {
			add_changed(s, a, i);
			continue;
		}
		add_name(s, b);
		if (!open || !a->reasons)
			continue;
		str_add(s, " (");
		explain_tail(s, b, told);
		add_reason(s, b);
		str_addc(s, ')');
	}
	if (a->cases > named)
		str_printf(s, " and %zu more", a->cases - named);
	if (a->works && a->n > 1 && r->outweighed)
		str_add(s, ", without being slower");
	if (!open || a->reasons)
		return;
	str_add(s, " (");
	explain_tail(s, a->v, told);
	add_reason(s, a->v);
	str_addc(s, ')');
}

/* Begins a sentence, the first of which ends at *first. */
static void
begin_sentence(struct str *s, size_t from, size_t *first, const char *word)
{
	if (s->len > from) {
		*first = *first ? *first : s->len;
		str_addc(s, ' ');
	}
	from = s->len;
	str_add(s, word);
	if (s->len > from)
		s->s[from] = (char)toupper((unsigned char)s->s[from]);
}

/* Were the instructions of all cases counted, and did none change? */
static bool
has_same_work(const struct brief *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct row *r =
		    find_row(&b->v[i], "instructions_per_req");

		if (!b->v[i].first->common &&
		    !(r && report_is_work(r) &&
			r->verdict == VERDICT_EQUIVALENT))
			return false;
	}
	return true;
}

size_t
brief_add_summary(struct str *s, const struct brief *b)
{
	size_t from = s->len, first = 0, all = 0;
	bool told = false, judged = false, open = false, same;
	struct answer a;

	for (size_t i = 0; i < b->n; i++) {
		all += !b->v[i].first->common;
		judged |= b->v[i].worst &&
		    b->v[i].worst->verdict != VERDICT_INSUFFICIENT;
	}
	if (!b->n || !b->v[0].worst) {
		str_add(s, "Nothing was judged.");
		return s->len - from;
	}
	judged = judged && b->v[0].worst->verdict > VERDICT_EQUIVALENT &&
	    !b->v[0].worst->waived;
	for (size_t i = 0; judged && !open && i < b->c->nrows; i++)
		open = report_seems_worse(&b->c->rows[i]);
	same = judged && has_same_work(b);
	if (judged && !open)
		begin_sentence(s, from, &first,
		    same ? "No slowdown found, and no change in instructions."
			 : "No slowdown found.");
	for (size_t i = 0; i < b->n; i += a.n) {
		a = find_answer(b, i);
		if (!a.cases && !brief_is_change(a.v))
			continue;
		begin_sentence(
		    s, from, &first, a.works ? "" : brief_answer(a.v));
		str_add(s, a.works ? "" : ": ");
		add_cases(s, &a, all, &told);
		str_addc(s, '.');
	}
	if (open && same)
		begin_sentence(s, from, &first, "No change in instructions.");
	return (first ? first : s->len) - from;
}
