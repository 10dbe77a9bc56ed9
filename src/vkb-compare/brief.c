#include "briefrow.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "report.h"
#include "str.h"
#include "table.h"
#include "together.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMNS = 80,   /* unless a terminal says how many it has */
	FEW = 20,       /* cases: of more, those without a change are counted */
	MOST = 50,      /* changed cases that are shown */
	INDENT = 5,     /* of what does not fit into a row */
	NAME_LEAST = 12 /* bytes of a name that is cut */
};

/* --- the cases */

/* Returns the row by which a case is judged first. */
static const struct row *
find_first(const struct brief_case *b)
{
	const char *primary = metric_primary(b->pair->side[0]->config);

	for (size_t i = 0; i < b->n; i++)
		if (b->rows[i].primary && !b->rows[i].common)
			return &b->rows[i];
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
	    together_is_work(x->worst) != together_is_work(y->worst))
		return together_is_work(x->worst) - together_is_work(y->worst);
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
	if (r->outweighed && together_is_work(r))
		return "not slower";
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

static void
choose_columns(struct layout *l, const struct brief *b, size_t n)
{
	bool work = false;

	for (enum column i = 0; i < OPTIONAL; i++) {
		l->has[i] = i <= CHANGE;
		for (size_t k = 0; k < n && !l->has[i]; k++)
			l->has[i] = brief_choose_row(&b->v[k], i) != NULL;
	}
	for (size_t k = 0; k < n; k++)
		work |= b->v[k].pair->functions != NULL;
	l->has[WORK] |= work && l->narrow < NO_FUNCTIONS;
	l->has[P50] &= l->narrow < NO_P50;
	l->has[P99] &= l->narrow < NO_P99;
}

static void
add_titles(struct table *t, const struct layout *l)
{
	static const char *const titles[OPTIONAL] = {[CHANGE] = "change",
	    [P50] = ">p50",
	    [P99] = ">p99",
	    [WORK] = "work (exact)"};
	struct str s = {0};

	table_titles(t, l->marks ? "answer|case" : "|");
	for (enum column i = 0; i < OPTIONAL; i++)
		if (l->has[i] && i != VALUES)
			table_titles(t,
			    i == WORK && l->narrow >= NO_FUNCTIONS ? "work"
								   : titles[i]);
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

	choose_columns(l, b, n);
	l->legend = false;
	l->rest = l->marks && has_rest(l, b, n);
	add_titles(t, l);
	for (size_t i = 0; i < n; i++)
		brief_add_row(t, l, &b->v[i]);
	return t;
}

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

void
brief_write(struct str *s, const struct report *r, size_t which)
{
	const struct comparison *c = &r->c[which];
	const struct warnings *w = &r->warnings[which];
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
