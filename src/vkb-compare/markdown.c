#include "brief.h"
#include "markup.h"
#include "mdcases.h"
#include "mdpage.h"
#include "num.h"
#include "report.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* GitHub takes comments of up to 65,536 characters; SLACK is for the fixed
 * texts. */
enum { LIMIT = 65000, SLACK = 1500, CONTENDERS = 8 };

const char *
report_mark(const struct row *r)
{
	switch (r->verdict) {
	case VERDICT_REGRESSION:
		return "\xf0\x9f\x94\xb4"; /* red circle */
	case VERDICT_LIKELY_REGRESSION:
		return "\xf0\x9f\x9f\xa0"; /* orange circle */
	case VERDICT_IMPROVEMENT:
		return "\xf0\x9f\x9f\xa2"; /* green circle */
	case VERDICT_DIFFERENT:
		return "\xf0\x9f\x94\xb5"; /* blue circle */
	case VERDICT_LIKELY_IMPROVEMENT:
	case VERDICT_LIKELY_DIFFERENT:
	case VERDICT_INCONCLUSIVE:
		return "\xe2\x9d\x94"; /* question mark */
	case VERDICT_INSUFFICIENT:
		return "\xe2\x8f\xb3"; /* hourglass */
	default:
		return "\xe2\x9e\x96"; /* minus */
	}
}

static void
write_markdown_row(struct str *s, const struct row *r, bool spread)
{
	char a[NUM_BUF], b[NUM_BUF];
	struct str verdict = {0}, notes = {0};
	double v[2];

	report_values(r, v);
	str_printf(s, "| %s | ", report_mark(r));
	markup_markdown(s, r->pair->name[0]);
	str_add(s, " | ");
	markup_markdown(s, r->name);
	str_printf(s, " | %s | %s | ", num_human(a, v[0]), num_human(b, v[1]));
	for (size_t side = 0; spread && side < 2; side++) {
		report_spread(s, r, side);
		str_add(s, " | ");
	}
	report_change(s, r);
	str_printf(s, " | %zu+%zu | ", r->facts.m, r->facts.n);
	report_verdict(&verdict, r);
	markup_markdown(s, verdict.s);
	str_free(&verdict);
	str_add(&notes, "");
	report_notes(&notes, r);
	str_add(s, notes.len ? "; " : "");
	markup_markdown_whole(s, notes.s);
	str_free(&notes);
	str_add(s, " |\n");
}

static void
write_table_head(struct str *s, bool spread)
{
	str_printf(s,
	    "| | Case | Metric | Baseline | Contender |%s Change [95%%] | "
	    "Runs | Verdict |\n|---|---|---|--:|--:|%s---|--:|---|\n",
	    spread ? " Baseline mean | Contender mean |" : "",
	    spread ? "---|---|" : "");
}

/* Writes rows from..to-1, as many as fit. */
static void
write_markdown_rows(const struct mdpage *p, const struct row **order,
    size_t from, size_t to, size_t percent)
{
	size_t i;

	if (from == to)
		return;
	write_table_head(p->s, p->spread);
	for (i = from; i < to; i++) {
		size_t before = p->s->len;

		write_markdown_row(p->s, order[i], p->spread);
		if (mdpage_has_room(p, percent))
			continue;
		mdpage_truncate(p, before);
		break;
	}
	mdpage_left_out(p, to - i, "row");
	str_addc(p->s, '\n');
}

/* Writes the warnings of one kind below a heading. */
static void
write_markdown_warnings(const struct mdpage *p, const struct warnings *w,
    enum report_kind kind, size_t percent)
{
	static const char *const headings[] = {
	    [REPORT_FAILED] = "Failed",
	    [REPORT_UNMATCHED] = "On one side only",
	    [REPORT_ENV] = "Environment",
	    [REPORT_NOTE] = "Notes",
	};
	size_t n = 0, left_out = 0;

	for (size_t i = 0; i < w->n; i++) {
		size_t before;

		if (w->v[i].kind != kind)
			continue;
		if (!n++)
			str_printf(p->s, "**%s**\n\n", headings[kind]);
		before = p->s->len;
		str_add(p->s, "- ");
		markup_markdown(p->s, w->v[i].text);
		str_addc(p->s, '\n');
		if (mdpage_has_room(p, percent))
			continue;
		mdpage_truncate(p, before);
		left_out++;
	}
	mdpage_left_out(p, left_out, "line");
	str_add(p->s, n ? "\n" : "");
}

static bool
is_notable(const struct row *r)
{
	return report_is_judged(r) &&
	    (r->verdict == VERDICT_REGRESSION ||
		r->verdict == VERDICT_IMPROVEMENT);
}

/* Has the case a regression or an improvement? */
static bool
has_notable_row(const struct comparison *c, const struct pairing *p)
{
	for (size_t i = 0; i < c->nrows; i++)
		if (c->rows[i].pair == p && is_notable(&c->rows[i]))
			return true;
	return false;
}

static void
write_markdown_shift(const struct mdpage *p, const struct shift *t)
{
	size_t before = p->s->len;
	char a[NUM_BUF], b[NUM_BUF];
	double by;
	const char *unit = shift_unit(t, &by);

	markup_markdown(p->s, t->pair->name[0]);
	str_add(p->s, ", ");
	markup_markdown(p->s, t->hist);
	str_printf(p->s,
	    "\n\n| Percentile | Baseline %s | Contender %s | Change [95%%] "
	    "|\n|--:|--:|--:|---|\n",
	    unit, unit);
	for (size_t i = 0; i < t->n; i++) {
		const struct shift_line *l = &t->v[i];

		str_printf(p->s, "| %g | %s | %s | ", l->percentile,
		    num_human(a, l->value[0] / by),
		    num_human(b, l->value[1] / by));
		report_ratio(p->s, l);
		str_add(p->s, " |\n");
	}
	str_addc(p->s, '\n');
	report_distance(p->s, t);
	str_add(p->s, "\n\n");
	if (!mdpage_has_room(p, 88))
		mdpage_truncate(p, before);
}

/* Writes the shifts of the cases that changed. */
static void
write_markdown_shifts(
    const struct mdpage *p, const struct report *r, size_t which)
{
	const struct shifts *all = &r->shifts[which];
	size_t before = p->s->len, start;

	mdpage_open(p, "How the latencies moved");
	start = p->s->len;
	for (size_t i = 0; i < all->n; i++)
		if (has_notable_row(&r->c[which], all->v[i].pair))
			write_markdown_shift(p, &all->v[i]);
	if (p->s->len > start)
		mdpage_close(p);
	else
		mdpage_truncate(p, before);
}

static void
write_markdown_overall(const struct mdpage *p, const struct comparison *c)
{
	for (size_t i = 0; i < c->noverall; i++) {
		size_t before = p->s->len;
		struct str text = {0};

		if (report_overall(&text, &c->overall[i], "Overall",
			"; over their runs")) {
			markup_markdown_whole(p->s, text.s);
			str_add(p->s, ".\n");
		}
		if (!mdpage_has_room(p, 95))
			mdpage_truncate(p, before);
		str_free(&text);
	}
	str_addc(p->s, '\n');
}

/* Writes what counts and times say of each case together, unless the head has
 * the only sentence. */
static void
write_markdown_together(const struct mdpage *p, const struct comparison *c)
{
	size_t n = 0, left_out = 0;

	for (size_t i = 0; i < c->npairs; i++)
		n += c->pairs[i].together != NULL;
	for (size_t i = 0; n > 1 && i < c->npairs; i++) {
		size_t before = p->s->len;

		if (!c->pairs[i].together)
			continue;
		str_add(p->s, "- ");
		markup_markdown_whole(p->s, c->pairs[i].together);
		str_addc(p->s, '\n');
		if (mdpage_has_room(p, 76))
			continue;
		mdpage_truncate(p, before);
		left_out++;
	}
	mdpage_left_out(p, left_out, "sentence");
	str_add(p->s, n > 1 ? "\n" : "");
}

/* Writes a row for each metric of each case, and what counts and times say of
 * each case. */
static void
write_markdown_metrics(const struct mdpage *p, const struct comparison *c)
{
	const struct row **order = report_order(c);
	struct str text = {0};

	mdpage_open(p, "Each metric, with the 95 % interval of its change");
	report_counts(p->s, c);
	str_add(p->s, "\n\n");
	report_judged(&text, c);
	if (c->noverall)
		mdpage_paragraph(p, "", text.s, 74);
	write_markdown_together(p, c);
	write_markdown_rows(p, order, 0, c->nrows, 84);
	mdpage_close(p);
	str_free(&text);
	free(order);
}

static void
write_markdown_method(
    const struct mdpage *p, const struct report *r, size_t which)
{
	const struct comparison *c = &r->c[which];
	const struct warnings *w = &r->warnings[which];
	struct str text = {0};

	mdpage_open(p, "How this was judged");
	write_markdown_warnings(p, w, REPORT_ENV, 88);
	write_markdown_warnings(p, w, REPORT_NOTE, 91);
	write_markdown_overall(p, c);
	report_method(&text, c, r->rules);
	mdpage_paragraph(p, "", text.s, 100);
	mdpage_close(p);
	str_free(&text);
}

static void
write_markdown_comparison(
    struct str *s, const struct report *r, size_t which, size_t limit)
{
	const struct comparison *c = &r->c[which];
	const struct warnings *w = &r->warnings[which];
	struct brief b = brief_collect(c);
	struct mdpage p = {s, s->len, limit - s->len - SLACK, r->spread};

	mdcases_write_head(&p, &b);
	mdcases_write_worst(&p, &b);
	write_markdown_warnings(&p, w, REPORT_FAILED, 46);
	write_markdown_warnings(&p, w, REPORT_UNMATCHED, 52);
	mdcases_write_others(&p, &b);
	mdcases_write_origin(&p, &b);
	write_markdown_metrics(&p, c);
	write_markdown_shifts(&p, r, which);
	write_markdown_method(&p, r, which);
	free(b.v);
}

void
report_markdown(struct str *s, const struct report *r)
{
	size_t shown = r->n < CONTENDERS ? r->n : CONTENDERS;

	for (size_t i = 0; i < shown; i++)
		write_markdown_comparison(
		    s, r, i, s->len + (LIMIT - 200 - s->len) / (shown - i));
	if (shown < r->n)
		str_printf(s,
		    "%zu more contender%s left out: too long for one "
		    "comment.\n",
		    r->n - shown, num_plural(r->n - shown));
}
