#include "markup.h"
#include "num.h"
#include "phrase.h"
#include "show.h"
#include "str.h"

#include <math.h>

#define LIMIT 60000 /* GitHub takes comments of up to 65,536 characters */

static void
write_markdown_warning(void *arg, const char *text)
{
	struct str *s = arg;

	str_add(s, "- ");
	markup_markdown(s, text);
	str_addc(s, '\n');
}

static void
write_markdown_cell(struct str *s, struct str *one)
{
	str_add(s, " | ");
	markup_markdown(s, one->s ? one->s : "");
	str_clear(one);
}

void
show_table(struct str *s, const struct branch *b, const struct findings *all,
    size_t group, size_t most, size_t limit)
{
	struct str one = {0};
	size_t k = 0;

	str_add(s,
	    "| case | metric | before | after | change [95%] | n | p | |\n"
	    "|---|---|---:|---:|---|---:|---:|---|\n");
	for (size_t i = finding_find_next(all, group, 0);
	     i < all->n && k < most && s->len < limit;
	     i = finding_find_next(all, group, i + 1), k++) {
		const struct finding *f = &all->v[i];
		char v[NUM_BUF];

		str_add(s, "| ");
		markup_markdown(s, f->name);
		str_add(&one, f->metric.name);
		write_markdown_cell(s, &one);
		str_add(&one, num_human(v, f->facts.median[0]));
		write_markdown_cell(s, &one);
		str_add(&one, num_human(v, f->facts.median[1]));
		write_markdown_cell(s, &one);
		phrase_change(&one, f);
		write_markdown_cell(s, &one);
		str_printf(&one, "%zu+%zu", f->n[0], f->n[1]);
		write_markdown_cell(s, &one);
		str_printf(&one, isnan(f->p) ? "-" : "%.2g", f->p);
		write_markdown_cell(s, &one);
		phrase_standing(&one, b, f);
		write_markdown_cell(s, &one);
		str_add(s, " |\n");
	}
	if (all->groups[group].n > k)
		str_printf(s, "\n%zu more series\n", all->groups[group].n - k);
	str_free(&one);
}

static void
write_markdown_group(struct str *s, const struct branch *b,
    const struct findings *all, size_t group)
{
	const struct finding_group *g = &all->groups[group];
	struct str one = {0};

	phrase_place(&one, b, g);
	str_add(s, g->counts ? "\n**" : "\n");
	markup_markdown(s, one.s);
	str_add(s, g->counts ? "**\n\n" : "\n\n");
	show_table(s, b, all, group, show_row_limit(g), LIMIT);
	str_free(&one);
}

void
show_markdown(struct str *s, const struct branch *b, const struct findings *all,
    const struct finding_rules *r)
{
	struct str one = {0};
	size_t i = 0;

	str_add(s, "### ");
	phrase_headline(&one, all, r);
	markup_markdown(s, one.s);
	str_add(s, "\n\n");
	str_clear(&one);
	phrase_ordering(&one, b);
	markup_markdown(s, one.s);
	str_addc(s, '\n');
	for (; i < all->ngroups && s->len < LIMIT - 20000; i++)
		write_markdown_group(s, b, all, i);
	if (i < all->ngroups)
		str_printf(s, "\n%zu more left out\n", all->ngroups - i);
	str_addc(s, '\n');
	phrase_warnings(b, all, r, write_markdown_warning, s);
	str_free(&one);
}
