#include "report.h"
#include "brief.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	TOGETHER = 20,  /* sentences about count and time of a case */
	COLUMNS = 80,   /* unless a terminal says how many it has */
	FEW = 20,       /* cases: of more, those without a change are counted */
	MOST = 50,      /* changed cases that are shown */
	INDENT = 5,     /* of what does not fit into a row */
	NAME_LEAST = 12 /* bytes of a name that is cut */
};

/* Leaves out columns until the table fits the terminal. */
static void
write_text_rows(
    struct str *s, const struct comparison *c, const struct report *r)
{
	enum report_narrow narrow = REPORT_WIDE;
	struct table *t = report_make_table(c, r->spread, narrow, false);

	while (r->width && table_columns(t) > r->width &&
	    narrow < REPORT_NO_INTERVAL) {
		table_free(t);
		t = report_make_table(c, r->spread, ++narrow, false);
	}
	table_print(t, s, r->colour);
	table_free(t);
	if (narrow)
		str_printf(s, "(some columns left out: the terminal has %zu)\n",
		    r->width);
}

static void
write_text_shift(struct str *s, const struct shift *p)
{
	struct table *t = report_make_shift_table(p);
	struct str title = {0};

	report_shift_title(&title, p);
	str_add(s, "\nshift of ");
	str_visible(s, title.s);
	str_add(s, ":\n");
	table_print(t, s, false);
	report_distance(s, p);
	str_addc(s, '\n');
	table_free(t);
	str_free(&title);
}

/* Writes for each case the sentence about its count and its time, unless the
 * summary has the only one. */
static void
write_together(struct str *s, const struct comparison *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->npairs; i++)
		n += c->pairs[i].together != NULL;
	if (n < 2)
		return;
	str_add(s, "work and time:\n");
	n = 0;
	for (size_t i = 0; i < c->npairs; i++) {
		if (!c->pairs[i].together || n++ >= TOGETHER)
			continue;
		str_add(s, "- ");
		str_visible(s, c->pairs[i].together);
		str_addc(s, '\n');
	}
	if (n > TOGETHER)
		str_printf(s, "- (%zu more: --format jsonl)\n", n - TOGETHER);
}

/* Writes what a short report lacks: the number of results, a row for each
 * metric, the means over the cases and the method. */
static void
write_details(struct str *s, const struct comparison *c, const struct report *r)
{
	struct str method = {0};

	report_counts(s, c);
	str_addc(s, '\n');
	report_judged(s, c);
	if (c->noverall)
		str_addc(s, '\n');
	write_together(s, c);
	write_text_rows(s, c, r);
	for (size_t i = 0; i < c->noverall; i++)
		if (report_overall(s, &c->overall[i], "overall"))
			str_addc(s, '\n');
	report_method(&method, c, r->rules);
	str_visible(s, method.s);
	str_addc(s, '\n');
	str_free(&method);
}

/* --- a row for each case */

/* May a line begin with this text? A CI system that reads the log takes some
 * words as commands. */
static bool
may_begin_line(const char *s)
{
	return !strchr(":# ", *s) && ((unsigned char)*s & 0xc0) != 0x80;
}

/* Returns the length of a word, including words after it that may not begin a
 * line. */
static size_t
measure_word(const char *s)
{
	size_t n = strcspn(s, " ");

	while (s[n] && !may_begin_line(s + n + strspn(s + n, " "))) {
		n += strspn(s + n, " ");
		n += strcspn(s + n, " ");
	}
	return n;
}

/* Returns how many of the n bytes of a word fit in the columns; n if it cannot
 * be broken. */
static size_t
fit_word(const char *s, size_t n, size_t columns)
{
	for (size_t at = columns; at > 0; at--)
		if (may_begin_line(s + at))
			return at;
	return n;
}

/* Adds the text in lines of at most 'width' columns, broken at blanks, and
 * within words that are longer than a line. */
static void
add_wrapped(struct str *s, const char *text, size_t indent, size_t width)
{
	size_t room = width > indent ? width - indent : 1, left = room;

	str_printf(s, "%*s", (int)indent, "");
	for (const char *word = text; *word;) {
		size_t n = measure_word(word), part;

		if (word != text && n + 1 > left) {
			str_printf(s, "\n%*s", (int)indent, "");
			left = room;
		} else if (word != text) {
			str_addc(s, ' ');
			left--;
		}
		for (; n > left; left = room) {
			part = fit_word(word, n, left);
			str_addn(s, word, part);
			word += part;
			n -= part;
			if (n)
				str_printf(s, "\n%*s", (int)indent, "");
		}
		str_addn(s, word, n);
		left -= n;
		word += n;
		word += strspn(word, " ");
	}
	str_addc(s, '\n');
}

static void
write_wrapped(struct str *s, const char *text, size_t indent, size_t width)
{
	struct str t = {0};

	str_visible(&t, text);
	add_wrapped(s, t.s, indent, width);
	str_free(&t);
}

/* Writes the lines of the table, below each what its row has no room for. */
static void
write_table(struct str *s, const struct brief *b, const struct layout *l,
    const struct table *t, bool colour)
{
	struct str lines = {0}, rest = {0};
	const char *line, *end;
	size_t at = 0;

	table_print(t, &lines, colour);
	for (line = lines.s; line && *line; line = end + 1) {
		end = strchrnul(line, '\n');
		str_addn(s, line, (size_t)(end - line) + 1);
		if (line == lines.s) /* titles */
			continue;
		str_clear(&rest);
		brief_add_rest(&rest, l, &b->v[at++]);
		if (rest.len)
			write_wrapped(s, rest.s, INDENT, l->width);
	}
	str_free(&lines);
	str_free(&rest);
}

/* Chooses as much as fits in the columns of the terminal, and writes it. */
static void
write_rows(struct str *s, const struct brief *b, const struct report *r,
    size_t n, size_t width)
{
	struct layout l = {
	    .title = brief_choose_title(b), .width = width, .name = SIZE_MAX};
	struct table *t = brief_make_table(b, &l, n);
	size_t wide, longest = 0;

	while (table_columns(t) > width && l.narrow < NO_NAMES) {
		table_free(t);
		l.narrow++;
		t = brief_make_table(b, &l, n);
	}
	for (size_t i = 0; i < n; i++)
		if (strlen(b->v[i].pair->name[0]) > longest)
			longest = strlen(b->v[i].pair->name[0]);
	wide = table_columns(t);
	if (wide > width && longest > NAME_LEAST) {
		/* The dots of a cut name take three more. */
		l.name = longest + width > wide + NAME_LEAST + 3
		    ? longest + width - wide - 3
		    : NAME_LEAST;
		table_free(t);
		t = brief_make_table(b, &l, n);
	}
	/* A byte that is escaped takes four columns or more. */
	while (table_columns(t) > width && l.name != SIZE_MAX &&
	    l.name > NAME_LEAST / 4) {
		table_free(t);
		l.name--;
		t = brief_make_table(b, &l, n);
	}
	write_table(s, b, &l, t, r->colour);
	if (l.legend)
		str_add(s, "(=: no change, ~: undecided)\n");
	table_free(t);
}

/* Returns how many cases are shown: of many, those that changed, and a few. */
static size_t
count_shown(const struct brief *b)
{
	size_t n = 0;

	if (b->n <= FEW)
		return b->n;
	while (n < b->n && n < MOST && brief_is_change(&b->v[n]))
		n++;
	while (n < FEW && b->v[n].worst &&
	    b->v[n].worst->verdict != VERDICT_EQUIVALENT)
		n++;
	return n;
}

/* Counts the cases that are not shown: "(983 cases: no change)". */
static void
write_left_out(struct str *s, const struct brief *b, size_t shown)
{
	size_t n;

	for (size_t i = shown; i < b->n; i += n) {
		const char *answer = brief_answer(&b->v[i]);
		size_t cases = 0;

		for (n = 0; i + n < b->n &&
		     strcmp(brief_answer(&b->v[i + n]), answer) == 0;
		     n++)
			cases += !b->v[i + n].first->common;
		if (cases)
			str_printf(s, "(%zu case%s: %s)\n", cases,
			    num_plural((double)cases), answer);
	}
}

static void
write_line(struct str *s, const char *word, struct str *text, size_t width)
{
	struct str t = {0};

	if (text->len) {
		str_printf(&t, "%s%s", word, text->s);
		t.s[0] = (char)toupper((unsigned char)t.s[0]);
		write_wrapped(s, t.s, 0, width);
	}
	str_free(&t);
	str_clear(text);
}

static void
write_brief(struct str *s, const struct report *r, size_t which)
{
	const struct comparison *c = &r->c[which];
	const struct warnings *w = &c->warnings;
	size_t width = r->width ? r->width : COLUMNS, shown;
	struct brief b = brief_collect(c);
	struct str t = {0};

	report_caution(&t, c);
	write_line(s, "", &t, width);
	str_printf(&t, "%s against %s", c->name[1], c->name[0]);
	write_line(s, "comparing ", &t, width);
	shown = count_shown(&b);
	write_rows(s, &b, r, shown, width);
	write_left_out(s, &b, shown);
	if (*c->common)
		str_add(&t, c->common);
	brief_add_runs(&t, &b);
	write_line(s, "all cases: ", &t, width);
	reference_describe(&t, c);
	write_line(s, "", &t, width);
	brief_add_summary(&t, &b);
	write_line(s, "", &t, width);
	report_outlook(&t, c);
	if (t.len)
		str_addc(&t, '.');
	write_line(s, "", &t, width);
	if (r->verbose || r->spread)
		write_details(s, c, r);
	for (size_t i = 0; i < w->n; i++) {
		str_add(s, "warning: ");
		str_visible(s, w->v[i].text);
		str_addc(s, '\n');
	}
	brief_add_next(&t, &b, r);
	if (t.len) {
		str_add(s, "Next: ");
		str_visible(s, t.s);
		str_addc(s, '\n');
	}
	str_free(&t);
	free(b.v);
}

/* Writes a line for each of several contenders. */
static void
write_text_overview(struct str *s, const struct report *r)
{
	struct table *t = table_new();

	table_titles(t, "|contender|baseline|rows");
	for (size_t i = 0; i < r->n; i++) {
		const struct comparison *c = &r->c[i];
		enum verdict v = verdict_foremost(c->count);
		struct str counts = {0};

		table_cell(t, v < VERDICTS ? report_sign(v) : " ");
		table_style(t, v < VERDICTS ? report_colour(v) : NULL);
		table_cell(t, c->name[1]);
		table_cell(t, c->name[0]);
		report_counts(&counts, c);
		table_take(t, str_take(&counts));
	}
	table_print(t, s, r->colour);
	str_addc(s, '\n');
	table_free(t);
}

void
report_text(struct str *s, const struct report *r)
{
	if (r->n > 1 && !r->explain)
		write_text_overview(s, r);
	for (size_t i = 0; i < r->n; i++) {
		if (i)
			str_addc(s, '\n');
		(r->explain ? explain_case : write_brief)(s, r, i);
		for (size_t k = 0;
		     r->shift && !r->explain && k < r->c[i].shifts.n; k++)
			write_text_shift(s, &r->c[i].shifts.v[k]);
	}
}
