#include "report.h"
#include "casename.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* GitHub takes comments of up to 65,536 characters. */
enum {
	LIMIT = 65000,
	TAIL = 1500 /* kept free for what closes the report */
};

static const char *
mark(const struct row *r)
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
row(struct str *s, const struct row *r, const struct casename *names)
{
	char *name = casename_of(names, r->pair->side[0]->config);
	char a[NUM_BUF], b[NUM_BUF];
	struct str verdict = {0};
	size_t before;

	str_printf(s, "| %s | ", mark(r));
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
	before = s->len;
	str_add(s, "; ");
	report_notes(s, r);
	if (s->len == before + 2)
		s->s[s->len = before] = '\0';
	str_add(s, " |\n");
	free(name);
}

static void
title(struct str *s)
{
	str_add(s,
	    "| | Case | Metric | Baseline | Contender | Change [95%] | Runs | "
	    "Verdict |\n|---|---|---|--:|--:|---|--:|---|\n");
}

/* Rows from..to-1, as many as fit below 'limit'. */
static void
rows(struct str *s, const struct row **order, size_t from, size_t to,
    const struct casename *names, size_t limit)
{
	size_t i;

	if (from == to)
		return;
	title(s);
	for (i = from; i < to; i++) {
		size_t before = s->len;

		row(s, order[i], names);
		if (s->len <= limit)
			continue;
		s->s[s->len = before] = '\0';
		break;
	}
	if (i < to)
		str_printf(s,
		    "\n%zu more row%s left out: too long for one "
		    "comment.\n",
		    to - i, to - i == 1 ? "" : "s");
	str_addc(s, '\n');
}

struct listing {
	struct str *s;
	size_t limit, left_out;
};

static void
warning(void *arg, const char *text)
{
	struct listing *l = arg;
	size_t before = l->s->len;

	str_add(l->s, "- ");
	markup_markdown(l->s, text);
	str_addc(l->s, '\n');
	if (l->s->len > l->limit) {
		l->s->s[l->s->len = before] = '\0';
		l->left_out++;
	}
}

static bool
notable(const struct row *r)
{
	return r->gate &&
	    (r->verdict == VERDICT_REGRESSION ||
		r->verdict == VERDICT_IMPROVEMENT);
}

static void
overall(struct str *s, const struct comparison *c, size_t limit)
{
	for (size_t i = 0; i < c->noverall && s->len < limit; i++) {
		const struct overall *o = &c->overall[i];

		if (o->cases < 2)
			continue;
		str_add(s, "Overall ");
		markup_markdown(s, o->name);
		str_printf(s, ": %.3fx", o->ratio);
		if (o->cases >= 3) /* two say next to nothing */
			str_printf(s, " \\[%.3f, %.3f\\]", o->lo, o->hi);
		str_printf(s, ", geometric mean of %zu cases.\n", o->cases);
	}
	str_addc(s, '\n');
}

/* 'limit' is the length up to which this comparison may fill the report. */
static void
one(struct str *s, const struct comparison *c, const struct rules *r,
    size_t limit)
{
	struct casename *names = judge_names(c);
	const struct row **order = report_order(c);
	size_t start = s->len, room = limit - start, n = 0, before;
	struct listing l = {s, start + room / 4, 0};
	char *common = casename_common(names);
	struct str text = {0};

	str_add(s, "### ");
	markup_markdown(s, c->name[1]);
	str_add(s, " against ");
	markup_markdown(s, c->name[0]);
	str_add(s, "\n\n**");
	report_headline(&text, c, names);
	markup_markdown_whole(s, text.s);
	str_clear(&text);
	str_add(s, "**\n\n");
	report_counts(s, c);
	str_add(s, "\n\n");
	before = s->len;
	report_warnings(c, names, warning, &l);
	if (l.left_out)
		str_printf(s, "- %zu more warning%s left out\n", l.left_out,
		    l.left_out == 1 ? "" : "s");
	if (s->len > before)
		str_addc(s, '\n');
	while (n < c->nrows && notable(order[n]))
		n++;
	rows(s, order, 0, n, names, start + room * 6 / 10);
	str_add(s, "<details><summary>");
	if (n < c->nrows)
		str_printf(s, "%zu other row%s, and how", c->nrows - n,
		    c->nrows - n == 1 ? "" : "s");
	else
		str_add(s, "How");
	str_add(s, " this was judged</summary>\n\n");
	rows(s, order, n, c->nrows, names, limit - TAIL);
	overall(s, c, limit - TAIL / 2);
	if (*common) {
		str_add(s, "All cases: ");
		markup_markdown(s, common);
		str_add(s, "\n\n");
	}
	report_method(&text, c, r);
	markup_markdown_whole(s, text.s);
	str_add(s, "\n\n</details>\n");
	str_free(&text);
	free(common);
	free(order);
	casename_free(names);
}

void
report_markdown(struct str *s, const struct report *r)
{
	size_t n = r->n;
	size_t shown = n < 8 ? n : 8; /* 8,000 characters each at least */

	for (size_t i = 0; i < shown; i++) {
		size_t left = LIMIT - 200 - s->len;

		if (i)
			str_addc(s, '\n');
		one(s, &r->c[i], r->rules, s->len + left / (shown - i));
	}
	if (shown < n)
		str_printf(s,
		    "\n%zu more contenders left out: too long for "
		    "one comment.\n",
		    n - shown);
}
