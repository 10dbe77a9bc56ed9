#include "report.h"
#include "brief.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* GitHub takes comments of up to 65,536 characters; SLACK is for the fixed
 * texts. */
enum { LIMIT = 65000, SLACK = 1500, CONTENDERS = 8 };

enum { SIDE = 60 }; /* bytes of the name of a side */

/* A part of a comment, and the room that it has. Names may be of any length, so
 * each part of the report ends at a share of the room; what does not fit is
 * left out and counted. */
struct mdpage {
	struct str *s;
	size_t start, room; /* bytes */
	bool spread;        /* rows have mean, sd and CV of each side */
};

/* Is the text so far within 'percent' of the room? */
static bool
has_room(const struct mdpage *p, size_t percent)
{
	return p->s->len <= p->start + p->room * percent / 100;
}

/* Cuts the text to the length that it had before. */
static void
truncate_page(const struct mdpage *p, size_t before)
{
	p->s->s[p->s->len = before] = '\0';
}

/* Writes "3 more rows left out: too long for one comment.", unless n is 0. */
static void
write_left_out(const struct mdpage *p, size_t n, const char *what)
{
	if (n)
		str_printf(p->s,
		    "\n%zu more %s%s left out: too long for one comment.\n", n,
		    what, num_plural(n));
}

/* Writes a name, cut and escaped. */
static void
write_name(const struct mdpage *p, const char *text)
{
	struct str t = {0};

	str_add(&t, "");
	markup_cut(&t, text, SIDE);
	markup_markdown(p->s, t.s);
	str_free(&t);
}

/* Begin and end what is folded; the summary is trusted. */
static void
open_fold(const struct mdpage *p, const char *summary)
{
	str_printf(p->s, "<details><summary>%s</summary>\n\n", summary);
}

static void
close_fold(const struct mdpage *p)
{
	str_add(p->s, "</details>\n\n");
}

/* Writes a paragraph, with a trusted text before it, if it fits. */
static void
write_paragraph(const struct mdpage *p, const char *before, const char *text,
    size_t percent)
{
	size_t len = p->s->len;

	str_add(p->s, before);
	markup_markdown_whole(p->s, text);
	str_add(p->s, "\n\n");
	if (!has_room(p, percent))
		truncate_page(p, len);
}

/* --- the cases */

/* Cases that are not folded, and bytes of a name in their rows. */
enum { WORST = 10, NAME = 100 };

static size_t
count_worst(const struct brief *b)
{
	return b->n < WORST ? b->n : WORST;
}

/* Writes the summary, its first sentence in bold. */
static void
write_summary(struct str *s, const struct brief *b)
{
	struct str text = {0};
	size_t first = brief_add_summary(&text, b);
	char *bold = mem_strn(text.s, first);

	str_add(s, "**");
	markup_markdown_whole(s, bold);
	str_add(s, "**");
	markup_markdown_whole(s, text.s + first);
	str_add(s, "\n\n");
	free(bold);
	str_free(&text);
}

/* Writes the sides, what limits the report, and the answer in a sentence. */
static void
write_head(const struct mdpage *p, const struct brief *b)
{
	const struct comparison *c = b->c;
	struct str text = {0};
	size_t before;

	str_add(p->s, "### ");
	write_name(p, c->name[1]);
	str_add(p->s, " against ");
	write_name(p, c->name[0]);
	str_add(p->s, "\n\n");
	before = p->s->len;
	report_caution(&text, c);
	if (text.len) {
		str_add(p->s, "**");
		markup_markdown_whole(p->s, text.s);
		str_add(p->s, "**\n\n");
	}
	if (!has_room(p, 10))
		truncate_page(p, before);
	write_summary(p->s, b);
	str_free(&text);
}

/* Writes a row for each of the first n cases, as many as fit. */
static void
write_cases(
    const struct mdpage *p, const struct brief *b, size_t n, size_t percent)
{
	struct layout l = {
	    .title = brief_choose_title(b), .name = NAME, .marks = true};
	struct table *t = brief_make_table(b, &l, n);
	size_t rows =
	    table_markdown(t, p->s, p->start + p->room * percent / 100);

	if (rows && l.legend)
		str_add(p->s, "\n=: no change, \\~: undecided\n");
	write_left_out(p, n - rows, "case");
	str_addc(p->s, '\n');
	table_free(t);
}

/* Writes the rows of the worst cases. */
static void
write_worst(const struct mdpage *p, const struct brief *b)
{
	write_cases(p, b, count_worst(b), 40);
}

/* Writes the folded rows of the others. */
static void
write_others(const struct mdpage *p, const struct brief *b)
{
	size_t shown = count_worst(b);
	struct brief rest = {b->c, b->v + shown, b->n - shown};
	struct str summary = {0};

	if (!rest.n)
		return;
	str_printf(
	    &summary, "%zu other case%s", rest.n, num_plural((double)rest.n));
	open_fold(p, summary.s);
	write_cases(p, &rest, rest.n, 68);
	close_fold(p);
	str_free(&summary);
}

/* Writes how the cases were measured, what would make unclear ones clear, and
 * the command that measures them again. */
static void
write_origin(const struct mdpage *p, const struct brief *b)
{
	const struct comparison *c = b->c;
	struct str text = {0}, command = {0};
	struct str why = {0};

	brief_add_runs(&text, b);
	if (*c->common)
		str_printf(&text, "%s%s", text.len ? "; " : "", c->common);
	if (text.len)
		write_paragraph(p, "Measured: ", text.s, 71);
	str_clear(&text);
	report_outlook(&text, c);
	if (text.len) {
		str_addc(&text, '.');
		write_paragraph(p, "", text.s, 73);
	}
	str_clear(&text);
	brief_add_again(&command, b, &why);
	if (why.len)
		write_paragraph(p, "", why.s, 73);
	if (command.len) {
		str_visible(&text, command.s);
		str_printf(p->s,
		    "To reproduce:\n\n    %s\n\n"
		    "It runs in a clone that has both commits; " BRIEF_CASES
		    " is among the results of this measurement.\n\n",
		    text.s);
	}
	str_free(&command);
	str_free(&why);
	str_free(&text);
}

/* --- the metrics, and the method */

/* Writes a row for each metric of each case, as many as fit. */
static void
write_markdown_rows(
    const struct mdpage *p, const struct comparison *c, size_t percent)
{
	struct table *t = report_make_table(c, p->spread, REPORT_WIDE, true);
	size_t rows =
	    table_markdown(t, p->s, p->start + p->room * percent / 100);

	write_left_out(p, c->nrows - rows, "row");
	str_addc(p->s, '\n');
	table_free(t);
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
		if (has_room(p, percent))
			continue;
		truncate_page(p, before);
		left_out++;
	}
	write_left_out(p, left_out, "line");
	str_add(p->s, n ? "\n" : "");
}

/* Is the case one of those that changed? */
static bool
has_changed(const struct brief *b, const struct pairing *p)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].pair == p)
			return brief_is_change(&b->v[i]);
	return false;
}

static void
write_markdown_shift(const struct mdpage *p, const struct shift *shift)
{
	size_t before = p->s->len;
	struct table *t = report_make_shift_table(shift);
	struct str title = {0};

	report_shift_title(&title, shift);
	markup_markdown_whole(p->s, title.s);
	str_add(p->s, "\n\n");
	table_markdown(t, p->s, SIZE_MAX);
	str_addc(p->s, '\n');
	report_distance(p->s, shift);
	str_add(p->s, "\n\n");
	if (!has_room(p, 88))
		truncate_page(p, before);
	table_free(t);
	str_free(&title);
}

/* Writes the shifts of the cases that changed. */
static void
write_markdown_shifts(const struct mdpage *p, const struct brief *b)
{
	const struct shifts *all = &b->c->shifts;
	size_t before = p->s->len, start;

	open_fold(p, "How the latencies moved");
	start = p->s->len;
	for (size_t i = 0; i < all->n; i++)
		if (has_changed(b, all->v[i].pair))
			write_markdown_shift(p, &all->v[i]);
	if (p->s->len > start)
		close_fold(p);
	else
		truncate_page(p, before);
}

static void
write_markdown_overall(const struct mdpage *p, const struct comparison *c)
{
	for (size_t i = 0; i < c->noverall; i++) {
		size_t before = p->s->len;
		struct str text = {0};

		if (report_overall(&text, &c->overall[i], "Overall")) {
			markup_markdown_whole(p->s, text.s);
			str_add(p->s, ".\n");
		}
		if (!has_room(p, 95))
			truncate_page(p, before);
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
		if (has_room(p, 76))
			continue;
		truncate_page(p, before);
		left_out++;
	}
	write_left_out(p, left_out, "sentence");
	str_add(p->s, n > 1 ? "\n" : "");
}

/* Writes a row for each metric of each case, and what counts and times say of
 * each case. */
static void
write_markdown_metrics(const struct mdpage *p, const struct comparison *c)
{
	struct str text = {0};

	open_fold(p, "Each metric, with the 95 % interval of its change");
	report_counts(p->s, c);
	str_add(p->s, "\n\n");
	report_judged(&text, c);
	if (c->noverall)
		write_paragraph(p, "", text.s, 74);
	write_markdown_together(p, c);
	write_markdown_rows(p, c, 84);
	close_fold(p);
	str_free(&text);
}

static void
write_markdown_method(
    const struct mdpage *p, const struct report *r, size_t which)
{
	const struct comparison *c = &r->c[which];
	const struct warnings *w = &c->warnings;
	struct str text = {0};

	open_fold(p, "How this was judged");
	write_markdown_warnings(p, w, REPORT_ENV, 88);
	write_markdown_warnings(p, w, REPORT_NOTE, 91);
	write_markdown_overall(p, c);
	report_method(&text, c, r->rules);
	write_paragraph(p, "", text.s, 100);
	close_fold(p);
	str_free(&text);
}

static void
write_markdown_comparison(
    struct str *s, const struct report *r, size_t which, size_t limit)
{
	const struct comparison *c = &r->c[which];
	const struct warnings *w = &c->warnings;
	struct brief b = brief_collect(c);
	struct mdpage p = {s, s->len, limit - s->len - SLACK, r->spread};

	write_head(&p, &b);
	write_worst(&p, &b);
	write_markdown_warnings(&p, w, REPORT_FAILED, 46);
	write_markdown_warnings(&p, w, REPORT_UNMATCHED, 52);
	write_others(&p, &b);
	write_origin(&p, &b);
	write_markdown_metrics(&p, c);
	write_markdown_shifts(&p, &b);
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
