#include "mdcases.h"
#include "briefrow.h"
#include "markup.h"
#include "mdpage.h"
#include "mem.h"
#include "num.h"
#include "report.h"
#include "str.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

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

void
mdcases_write_head(const struct mdpage *p, const struct brief *b)
{
	const struct comparison *c = b->c;
	struct str text = {0};
	size_t before;

	str_add(p->s, "### ");
	mdpage_name(p, c->name[1]);
	str_add(p->s, " against ");
	mdpage_name(p, c->name[0]);
	str_add(p->s, "\n\n");
	before = p->s->len;
	report_caution(&text, c);
	if (text.len) {
		str_add(p->s, "**");
		markup_markdown_whole(p->s, text.s);
		str_add(p->s, ".**\n\n");
	}
	if (!mdpage_has_room(p, 10))
		mdpage_truncate(p, before);
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
	mdpage_left_out(p, n - rows, "case");
	str_addc(p->s, '\n');
	table_free(t);
}

void
mdcases_write_worst(const struct mdpage *p, const struct brief *b)
{
	write_cases(p, b, count_worst(b), 40);
}

void
mdcases_write_others(const struct mdpage *p, const struct brief *b)
{
	size_t shown = count_worst(b);
	struct brief rest = {b->c, b->v + shown, b->n - shown};
	struct str summary = {0};

	if (!rest.n)
		return;
	str_printf(
	    &summary, "%zu other case%s", rest.n, num_plural((double)rest.n));
	mdpage_open(p, summary.s);
	write_cases(p, &rest, rest.n, 68);
	mdpage_close(p);
	str_free(&summary);
}

void
mdcases_write_origin(const struct mdpage *p, const struct brief *b)
{
	const struct comparison *c = b->c;
	struct str text = {0}, command = {0};
	struct str why = {0};

	brief_add_runs(&text, b);
	if (*c->common)
		str_printf(&text, "%s%s", text.len ? "; " : "", c->common);
	if (text.len)
		mdpage_paragraph(p, "Measured: ", text.s, 71);
	str_clear(&text);
	report_outlook(&text, c);
	if (text.len) {
		str_addc(&text, '.');
		mdpage_paragraph(p, "", text.s, 73);
	}
	str_clear(&text);
	brief_add_again(&command, b, &why);
	if (why.len)
		mdpage_paragraph(p, "", why.s, 73);
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
