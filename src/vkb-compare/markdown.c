#include "report.h"
#include "casename.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * GitHub takes comments of up to 65,536 characters. Names may be of any length,
 * so each part of the report ends at a share of the room; what does not fit is
 * left out and counted. SLACK is for the fixed texts.
 */
enum { LIMIT = 65000, SLACK = 1500, NAME = 60, CONTENDERS = 8 };

struct page {
	struct str *s;
	size_t start, room;
};

/* Is the text so far within 'percent' of the room? */
static bool
is_within_room(const struct page *p, size_t percent)
{
	return p->s->len <= p->start + p->room * percent / 100;
}

static void
truncate_page(const struct page *p, size_t before)
{
	p->s->s[p->s->len = before] = '\0';
}

static const char *
choose_mark(const struct row *r)
{
	switch (r->verdict) {
	case VERDICT_REGRESSION:
		return "\xf0\x9f\x94\xb4"; /* red circle */
	case VERDICT_IMPROVEMENT:
		return "\xf0\x9f\x9f\xa2"; /* green circle */
	case VERDICT_DIFFERENT:
		return "\xf0\x9f\x94\xb5"; /* blue circle */
	case VERDICT_INCONCLUSIVE:
		return "\xe2\x9d\x94"; /* question mark */
	case VERDICT_INSUFFICIENT:
		return "\xe2\x8f\xb3"; /* hourglass */
	default:
		return "\xe2\x9e\x96"; /* minus */
	}
}

static void
write_markdown_row(
    struct str *s, const struct row *r, const struct casename *names)
{
	char *name = casename_of(names, r->pair->side[0]->config);
	char a[NUM_BUF], b[NUM_BUF];
	struct str verdict = {0}, notes = {0};

	str_printf(s, "| %s | ", choose_mark(r));
	markup_markdown(s, name);
	str_add(s, " | ");
	markup_markdown(s, r->name);
	str_printf(s, " | %s | %s | ", num_human(a, r->facts.median[0]),
	    num_human(b, r->facts.median[1]));
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
	free(name);
}

static void
write_table_head(struct str *s)
{
	str_add(s,
	    "| | Case | Metric | Baseline | Contender | Change [95%] | Runs | "
	    "Verdict |\n|---|---|---|--:|--:|---|--:|---|\n");
}

static void
write_left_out(const struct page *p, size_t n, const char *what)
{
	if (n)
		str_printf(p->s,
		    "\n%zu more %s%s left out: too long for one comment.\n", n,
		    what, num_plural(n));
}

/* Writes rows from..to-1, as many as fit. */
static void
write_markdown_rows(const struct page *p, const struct row **order, size_t from,
    size_t to, const struct casename *names, size_t percent)
{
	size_t i;

	if (from == to)
		return;
	write_table_head(p->s);
	for (i = from; i < to; i++) {
		size_t before = p->s->len;

		write_markdown_row(p->s, order[i], names);
		if (is_within_room(p, percent))
			continue;
		truncate_page(p, before);
		break;
	}
	write_left_out(p, to - i, "row");
	str_addc(p->s, '\n');
}

struct listing {
	const struct page *page;
	enum report_kind kind;
	size_t percent, n, left_out;
};

static void
list_warning(void *arg, enum report_kind kind, const char *text)
{
	struct listing *l = arg;
	struct str *s = l->page->s;
	size_t before = s->len;

	if (kind != l->kind)
		return;
	str_add(s, "- ");
	markup_markdown(s, text);
	str_addc(s, '\n');
	l->n++;
	if (is_within_room(l->page, l->percent))
		return;
	truncate_page(l->page, before);
	l->left_out++;
}

/* Writes the warnings of one kind below a heading. */
static void
write_markdown_warnings(const struct page *p, const struct comparison *c,
    const struct casename *names, enum report_kind kind, size_t percent)
{
	static const char *const headings[] = {
	    [REPORT_FAILED] = "Failed",
	    [REPORT_UNMATCHED] = "On one side only",
	    [REPORT_ENV] = "Environment",
	    [REPORT_NOTE] = "Notes",
	};
	struct listing l = {p, kind, percent, 0, 0};
	size_t before = p->s->len;

	str_printf(p->s, "**%s**\n\n", headings[kind]);
	report_warnings(c, names, list_warning, &l);
	if (!l.n) {
		truncate_page(p, before);
		return;
	}
	write_left_out(p, l.left_out, "line");
	str_addc(p->s, '\n');
}

static bool
is_notable(const struct row *r)
{
	return report_counted(r) &&
	    (r->verdict == VERDICT_REGRESSION ||
		r->verdict == VERDICT_IMPROVEMENT);
}

static void
open_details(struct str *s, const char *summary)
{
	str_printf(s, "<details><summary>%s</summary>\n\n", summary);
}

static void
close_details(struct str *s)
{
	str_add(s, "</details>\n\n");
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
write_markdown_shift(
    const struct page *p, const struct shift *t, const struct casename *names)
{
	char *text = casename_of(names, t->pair->side[0]->config);
	size_t before = p->s->len;
	char a[NUM_BUF], b[NUM_BUF];
	double by;
	const char *unit = shift_unit(t, &by);

	markup_markdown(p->s, text);
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
	if (!is_within_room(p, 85))
		truncate_page(p, before);
	free(text);
}

/* Writes the shifts of the cases that changed. */
static void
write_markdown_shifts(const struct page *p, const struct report *r,
    size_t which, const struct casename *names)
{
	const struct shifts *all = &r->shifts[which];
	size_t before = p->s->len, start;

	open_details(p->s, "How the latencies moved");
	start = p->s->len;
	for (size_t i = 0; i < all->n; i++)
		if (has_notable_row(&r->c[which], all->v[i].pair))
			write_markdown_shift(p, &all->v[i], names);
	if (p->s->len > start)
		close_details(p->s);
	else
		truncate_page(p, before);
}

static void
write_markdown_overall(const struct page *p, const struct comparison *c)
{
	for (size_t i = 0; i < c->noverall; i++) {
		const struct overall *o = &c->overall[i];
		size_t before = p->s->len;

		if (o->cases < 2)
			continue;
		str_add(p->s, "Overall ");
		markup_markdown(p->s, o->name);
		str_printf(p->s, ": %.3fx", o->ratio);
		/* The interval of two cases is too wide to help. */
		if (o->cases >= 3 && !isnan(o->lo))
			str_printf(p->s, " \\[%.3f, %.3f\\]", o->lo, o->hi);
		str_printf(p->s, ", geometric mean of %zu cases", o->cases);
		if (!isnan(o->lo_runs))
			str_printf(p->s, "; over their runs \\[%.3f, %.3f\\]",
			    o->lo_runs, o->hi_runs);
		str_add(p->s, ".\n");
		if (!is_within_room(p, 95))
			truncate_page(p, before);
	}
	str_addc(p->s, '\n');
}

/* Writes a paragraph if it fits. */
static void
write_paragraph(
    const struct page *p, const char *before, const char *text, size_t percent)
{
	size_t len = p->s->len;

	str_add(p->s, before);
	markup_markdown_whole(p->s, text);
	str_add(p->s, "\n\n");
	if (!is_within_room(p, percent))
		truncate_page(p, len);
}

static void
write_markdown_name(struct str *s, const char *text)
{
	struct str t = {0};

	markup_cut(&t, text, NAME);
	markup_markdown(s, t.s ? t.s : "");
	str_free(&t);
}

static void
write_markdown_head(const struct page *p, const struct comparison *c,
    const struct casename *names)
{
	struct str text = {0};
	size_t before;

	str_add(p->s, "### ");
	write_markdown_name(p->s, c->name[1]);
	str_add(p->s, " against ");
	write_markdown_name(p->s, c->name[0]);
	str_add(p->s, "\n\n");
	before = p->s->len;
	str_add(p->s, "**");
	report_headline(&text, c, names);
	markup_markdown_whole(p->s, text.s);
	str_add(p->s, "**\n\n");
	if (!is_within_room(p, 40))
		truncate_page(p, before);
	report_counts(p->s, c);
	str_add(p->s, "\n\n");
	str_clear(&text);
	report_judged(&text, c);
	if (c->noverall)
		write_paragraph(p, "", text.s, 44);
	str_free(&text);
}

static void
write_markdown_method(const struct page *p, const struct comparison *c,
    const struct casename *names, const struct rules *r)
{
	char *common = casename_common(names);
	struct str text = {0};

	open_details(p->s, "What was measured, and how this was judged");
	write_markdown_warnings(p, c, names, REPORT_ENV, 88);
	write_markdown_warnings(p, c, names, REPORT_NOTE, 91);
	write_markdown_overall(p, c);
	if (*common)
		write_paragraph(p, "All cases: ", common, 97);
	report_method(&text, c, r);
	write_paragraph(p, "", text.s, 100);
	close_details(p->s);
	str_free(&text);
	free(common);
}

static void
write_markdown_comparison(
    struct str *s, const struct report *r, size_t which, size_t limit)
{
	const struct comparison *c = &r->c[which];
	struct casename *names = judge_names(c);
	const struct row **order = report_order(c);
	struct page p = {s, s->len, limit - s->len - SLACK};
	struct str summary = {0};
	size_t n = 0;

	write_markdown_head(&p, c, names);
	write_markdown_warnings(&p, c, names, REPORT_FAILED, 45);
	while (n < c->nrows && is_notable(order[n]))
		n++;
	write_markdown_rows(&p, order, 0, n, names, 65);
	write_markdown_warnings(&p, c, names, REPORT_UNMATCHED, 70);
	if (n < c->nrows) {
		str_printf(&summary, "%zu other row%s", c->nrows - n,
		    num_plural(c->nrows - n));
		open_details(s, summary.s);
		write_markdown_rows(&p, order, n, c->nrows, names, 80);
		close_details(s);
	}
	write_markdown_shifts(&p, r, which, names);
	write_markdown_method(&p, c, names, r->rules);
	str_free(&summary);
	free(order);
	casename_free(names);
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
