#include "show.h"
#include "casename.h"
#include "mem.h"
#include "num.h"
#include "phrase.h"
#include "str.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 10 /* of one change; JSON lines have all */

size_t
show_row_limit(const struct finding_group *g)
{
	return g->kind == FINDING_SPIKE ? 3 : ROWS;
}

static const char *
choose_colour(const struct finding *f)
{
	if (finding_is_counted(f))
		return "31";
	return f->kind == FINDING_IMPROVEMENT && f->gate ? "32" : NULL;
}

static void
write_finding_rows(struct str *s, const struct branch *b,
    const struct findings *all, size_t group, bool colour)
{
	struct table *t = table_new();
	struct str one = {0};
	size_t k = 0;

	table_titles(t, "  case|metric|before -> after|change [95%]|>n|>p|");
	for (size_t i = finding_find_next(all, group, 0);
	     i < all->n && k < show_row_limit(&all->groups[group]);
	     i = finding_find_next(all, group, i + 1), k++) {
		const struct finding *f = &all->v[i];

		table_take(t, mem_printf("  %s", f->name));
		table_cell(t, f->metric.name);
		phrase_numbers(&one, f);
		table_take(t, str_take(&one));
		phrase_change(&one, f);
		table_take(t, str_take(&one));
		table_style(t, choose_colour(f));
		table_take(t, mem_printf("%zu+%zu", f->n[0], f->n[1]));
		table_take(
		    t, isnan(f->p) ? mem_str("-") : mem_printf("%.2g", f->p));
		phrase_standing(&one, b, f);
		table_take(t, str_take(&one));
		table_style(t, choose_colour(f));
	}
	table_print(t, s, colour);
	if (all->groups[group].n > k)
		str_printf(s, "  %zu more series: --format jsonl\n",
		    all->groups[group].n - k);
	table_free(t);
}

static void
write_text_warning(void *arg, const char *text)
{
	struct str *s = arg;

	str_add(s, "warning: ");
	str_visible(s, text);
	str_addc(s, '\n');
}

void
show_text(struct str *s, const struct branch *b, const struct findings *all,
    const struct finding_rules *r, bool colour)
{
	struct str one = {0};
	char *common = casename_common(b->names);

	phrase_headline(s, all, r);
	str_addc(s, '\n');
	phrase_ordering(&one, b);
	str_visible(s, one.s);
	str_addc(s, '\n');
	for (size_t i = 0; i < all->ngroups; i++) {
		str_clear(&one);
		phrase_place(&one, b, &all->groups[i]);
		str_addc(s, '\n');
		str_visible(s, one.s);
		str_addc(s, '\n');
		write_finding_rows(s, b, all, i, colour);
	}
	if (all->ngroups)
		str_addc(s, '\n');
	if (all->series && *common) {
		str_add(s, "all cases: ");
		str_visible(s, common);
		str_addc(s, '\n');
	}
	phrase_warnings(b, all, r, write_text_warning, s);
	str_free(&one);
	free(common);
}
