#include "report.h"
#include "markup.h"
#include "mem.h"
#include "str.h"

#include <stdlib.h>

/*
 * GitHub shows ten annotations of each level for one step. If there are more,
 * the tenth gives their number.
 */
enum { SHOWN = 10 };
enum level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_NOTICE, LEVELS };

static const char *const level_names[LEVELS] = {"error", "warning", "notice"};

struct notes {
	struct str text[LEVELS]; /* the commands, each a line */
	size_t n[LEVELS];
};

static void
add_annotation(
    struct notes *a, enum level level, const char *title, const char *text)
{
	struct str *s = &a->text[level];

	if (a->n[level]++ >= SHOWN - 1)
		return;
	str_printf(s, "::%s title=", level_names[level]);
	markup_property(s, title);
	str_add(s, "::");
	markup_message(s, text);
	str_addc(s, '\n');
}

static void
annotate_row(struct notes *a, const struct report *report, const struct row *r)
{
	static const enum level of[VERDICTS] = {
	    [VERDICT_REGRESSION] = LEVEL_NOTICE, /* waived */
	    [VERDICT_IMPROVEMENT] = LEVEL_NOTICE,
	    [VERDICT_DIFFERENT] = LEVEL_NOTICE,
	    [VERDICT_LIKELY_REGRESSION] = LEVEL_WARNING,
	    [VERDICT_LIKELY_IMPROVEMENT] = LEVELS, /* the headline names it */
	    [VERDICT_LIKELY_DIFFERENT] = LEVELS,
	    [VERDICT_EQUIVALENT] = LEVELS,
	    [VERDICT_INCONCLUSIVE] = LEVELS,
	    [VERDICT_INSUFFICIENT] = LEVELS,
	};
	enum level level =
	    report_row_fails(report, r) ? LEVEL_ERROR : of[r->verdict];
	char *title;
	struct str s = {0};

	if (level == LEVELS || !r->gate)
		return;
	title = mem_printf("%s: %s", r->pair->name[0], r->name);
	report_sentence(&s, r);
	add_annotation(a, level, title, s.s);
	str_free(&s);
	free(title);
}

static void
annotate_comparison(struct notes *a, const struct report *report, size_t which)
{
	const struct comparison *c = &report->c[which];
	const struct warnings *w = &c->warnings;
	const struct row **order = report_order(c);
	char *title = mem_printf("%s against %s", c->name[1], c->name[0]);
	struct str s = {0};

	report_headline(&s, c);
	add_annotation(a,
	    report->fails_missing && report_count_missing(c) ? LEVEL_ERROR
							     : LEVEL_NOTICE,
	    title, s.s);
	for (size_t i = 0; i < c->nrows; i++)
		annotate_row(a, report, order[i]);
	for (size_t i = 0; i < w->n; i++)
		add_annotation(a,
		    w->v[i].kind == REPORT_FAILED ? LEVEL_ERROR : LEVEL_WARNING,
		    title, w->v[i].text);
	str_free(&s);
	free(title);
	free(order);
}

void
report_annotations(struct str *s, const struct report *r)
{
	struct notes a = {0};

	for (size_t i = 0; i < r->n; i++)
		annotate_comparison(&a, r, i);
	for (size_t i = 0; i < LEVELS; i++) {
		/* add_annotation would drop it */
		if (a.n[i] >= SHOWN)
			str_printf(&a.text[i],
			    "::%s title=vkb-compare::%zu more like these\n",
			    level_names[i], a.n[i] - (SHOWN - 1));
		if (a.text[i].s)
			str_add(s, a.text[i].s);
		str_free(&a.text[i]);
	}
}
