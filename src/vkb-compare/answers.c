/* The answers of all cases in a few sentences, the same in all reports. */
#include "briefrow.h"
#include "markup.h"
#include "metric.h"
#include "num.h"
#include "report.h"
#include "str.h"
#include "together.h"

#include <ctype.h>
#include <string.h>

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
	return b->pair->together && together_has(b->worst);
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
		brief_write_change(s, &b->rows[i]);
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
		    !r->waived && together_is_work(r) &&
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
		brief_write_change(s, r);
		return;
	}
	str_add(s, r->common ? " together (" : " (");
	brief_write_change(s, r);
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

	if (!r || (!changed && !open && r->verdict != VERDICT_INSUFFICIENT) ||
	    r->noise) {
		if (a->cases == all)
			str_printf(s,
			    all == 1 ? "the only case" : "all %zu cases", all);
		else
			str_printf(s, "%zu case%s", a->cases,
			    num_plural((double)a->cases));
		return;
	}
	if (open && !a->reasons && a->cases == all && all > 1 &&
	    a->v->worst == a->v->first) {
		str_printf(s, "all %zu cases", all);
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

size_t
brief_add_summary(struct str *s, const struct brief *b)
{
	size_t from = s->len, first = 0, all = 0;
	bool told = false;
	struct answer a;

	for (size_t i = 0; i < b->n; i++)
		all += !b->v[i].first->common;
	if (!b->n || !b->v[0].worst) {
		str_add(s, "Nothing was judged.");
		return s->len - from;
	}
	if (b->v[0].worst->verdict > VERDICT_EQUIVALENT &&
	    !b->v[0].worst->waived)
		begin_sentence(s, from, &first, "No slowdown found.");
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
	return (first ? first : s->len) - from;
}
