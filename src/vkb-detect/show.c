#include "show.h"
#include "casename.h"
#include "json.h"
#include "machines.h"
#include "mem.h"
#include "phrase.h"
#include "reading.h"
#include "record.h"
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
	return finding_direction(f) == FINDING_IMPROVEMENT && f->gate ? "32"
								      : NULL;
}

static void
write_finding_rows(struct str *s, const struct branch *b,
    const struct findings *all, size_t group, bool colour)
{
	struct table *t = table_new();
	struct str one = {0};
	size_t k = 0;

	table_titles(t, "  case|metric|before -> after|change [95%]|>n|>sure|");
	for (size_t i = finding_find_next(all, group, 0);
	     i < all->n && k < show_row_limit(&all->groups[group]);
	     i = finding_find_next(all, group, i + 1), k++) {
		const struct finding *f = &all->v[i];

		table_take(t, mem_printf("  %s", f->name));
		table_cell(t, f->metric.name);
		phrase_numbers(&one, f, " -> ");
		table_take(t, str_take(&one));
		phrase_change(&one, f);
		table_take(t, str_take(&one));
		table_style(t, choose_colour(f));
		table_take(t, mem_printf("%zu+%zu", f->n[0], f->n[1]));
		phrase_sureness(&one, f);
		table_take(t, str_take(&one));
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
	str_clear(&one);
	phrase_machines(&one, b);
	if (one.len) {
		str_visible(s, one.s);
		str_addc(s, '\n');
	}
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

/* --- records */

static struct json *
make_range(const struct branch *b, const struct finding *f)
{
	const char *first = branch_first_suspect(b, f->lo);
	const char *last = b->points[f->hi].commit;
	struct json *j;

	if (!first || !last)
		return NULL;
	j = json_array();
	json_push(j, json_string(first));
	json_push(j, json_string(last));
	return j;
}

static struct json *
make_trend(const struct finding *f)
{
	struct json *j = json_object();

	json_set_str(j, "direction", finding_name_kind(f->way));
	json_set_num(j, "points", (double)f->n[1]);
	if (!isnan(f->pace))
		json_set_num(j, "per_point", f->pace);
	return j;
}

/* Sets which machines show the change, the first as in the record itself, and
 * which do not. */
static void
set_machines(struct json *rec, const struct branch *b, const struct finding *f)
{
	const struct machines *names = b->reading->machines;
	struct json *with = json_array(), *without = json_array();

	for (size_t i = 0; i < f->nparts; i++) {
		const struct finding_part *p = &f->parts[i];
		struct json *j = json_object();

		json_set_str(j, "machine", machines_name(names, p->machine));
		json_set(j, "n", json_pair((double)p->n[0], (double)p->n[1]));
		json_set(j, "median", json_pair(p->median[0], p->median[1]));
		json_set_num(j, "ratio", p->ratio);
		if (!isnan(p->lo95))
			json_set(j, "ci95", json_pair(p->lo95, p->hi95));
		json_push(with, j);
	}
	for (size_t i = 0; i < f->nwithout; i++)
		json_push(
		    without, json_string(machines_name(names, f->without[i])));
	json_set_filled(rec, "machines", with);
	json_set_filled(rec, "machines_without", without);
}

static struct json *
make_change(
    const struct branch *b, const struct findings *all, const struct finding *f)
{
	struct json *rec = record_new("change");
	const struct point *p = &b->points[f->at];
	char *key = finding_make_key(f, b);

	json_set(rec, "config", json_dup(f->series->config));
	json_set_str(rec, "metric", f->metric.name);
	json_set_str(rec, "better", metric_better_name(f->metric.better));
	json_set_str(rec, "kind", finding_name_kind(f->kind));
	if (f->kind == FINDING_TREND)
		json_set(rec, "trend", make_trend(f));
	json_set(rec, "subject", json_dup(p->subject));
	json_set_str(rec, "commit", p->commit);
	if (f->lo)
		json_set(
		    rec, "previous", json_dup(b->points[f->lo - 1].subject));
	json_set(rec, "range", make_range(b, f));
	json_set_num(rec, "index", (double)f->at);
	json_set(rec, "indexes", json_pair((double)f->lo, (double)f->hi));
	json_set(rec, "n", json_pair((double)f->n[0], (double)f->n[1]));
	json_set(
	    rec, "median", json_pair(f->facts.median[0], f->facts.median[1]));
	json_set_num(rec, "ratio", f->facts.ratio);
	if (!isnan(f->facts.lo95) && f->kind != FINDING_SPIKE)
		json_set(rec, "ci95", json_pair(f->facts.lo95, f->facts.hi95));
	json_set_num(rec, "probability", f->probability);
	json_set_str(rec, "method", f->method);
	json_set_str(rec, "setup", f->setup);
	if (f->nparts)
		set_machines(rec, b, f);
	json_set_str(rec, "class", f->gate ? "gate" : "info");
	json_set_num(rec, "margin", f->margin);
	json_set_str(rec, "first_seen", p->time);
	json_set_bool(
	    rec, "new", f->fresh && f->stands && f->kind != FINDING_SPIKE);
	if (!f->stands)
		json_set(
		    rec, "reverted", json_dup(b->points[f->reverted].subject));
	json_set_str(rec, "group", all->groups[f->group].key);
	json_set_str(rec, "key", key);
	if (f->waived)
		json_set(rec, "waiver", policy_describe_waiver(&f->waiver));
	free(key);
	return rec;
}

void
show_jsonl(struct str *s, const struct branch *b, const struct findings *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct json *rec = make_change(b, all, &all->v[i]);

		json_append_line(s, rec);
		json_free(rec);
	}
}
