#include "text.h"
#include "headline.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "model.h"
#include "num.h"
#include "stats.h"
#include "str.h"
#include "table.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BARS = 40, CASES = 100, HISTORY = 4 };

/* Returns whether the characters of the locale are UTF-8. */
static bool
has_utf8(void)
{
	locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = l && strcmp(nl_langinfo_l(CODESET, l), "UTF-8") == 0;

	if (l)
		freelocale(l);
	return utf8;
}

/* Draws a bar for each value, the lowest and the highest for the ends of the
 * range; reduces more than BARS values to medians. */
static void
draw_bars(struct str *s, double *v, size_t n, const struct range *l)
{
	size_t bars = n < BARS ? n : BARS;
	bool utf8 = has_utf8();

	for (size_t i = 0; i < bars; i++) {
		size_t from = i * n / bars, end = (i + 1) * n / bars;
		double mid, part;

		stats_sort(v + from, end - from);
		mid = v[from + (end - from) / 2];
		part = l->hi > l->lo ? (mid - l->lo) / (l->hi - l->lo) : .5;
		if (isnan(part))
			str_addc(s, ' ');
		else if (utf8) /* eight block characters, lowest first */
			str_addu(s, 0x2581 + (unsigned)lround(7 * part));
		else
			str_addc(s, "_.-~=+*#"[lround(7 * part)]);
	}
}

static void
fit_values(struct range *l, const struct json *metric)
{
	const struct json *j = json_first(json_get(metric, "values"));

	for (; j; j = json_next(j)) {
		l->lo = fmin(l->lo, json_num(j, INFINITY));
		l->hi = fmax(l->hi, json_num(j, -INFINITY));
	}
}

/* Returns the first gate metric of the case, else its first, or NULL. */
static const char *
choose_metric(const struct kase *k)
{
	for (const struct metric *t = metric_table; t->name; t++)
		for (size_t i = 0; i < k->ncells; i++)
			if (t->gate && model_metric(k->cells[i], t->name))
				return t->name;
	for (size_t i = 0; i < k->ncells; i++) {
		const struct json *j =
		    json_first(json_get(k->cells[i]->rec, "metrics"));

		if (j)
			return json_key(j);
	}
	return NULL;
}

/* Returns the result of a contender, or NULL. */
static const struct delta *
find_delta(const struct kase *k, const struct cell *c, const char *metric)
{
	for (size_t i = 0; i < k->ndeltas; i++)
		if (strcmp(k->deltas[i]->text.metric, metric) == 0 &&
		    k->deltas[i]->contender == c->subject)
			return k->deltas[i];
	return NULL;
}

/* Adds a row; takes the texts 'bars' and 'change'. */
static void
add_row(struct table *t, const char *name, const char *who, const char *metric,
    double median, struct str *bars, struct str *change)
{
	char buf[NUM_BUF];

	table_cell(t, name);
	table_cell(t, who);
	table_cell(t, metric);
	table_cell(t, isnan(median) ? "-" : num_human(buf, median));
	table_take(t, str_take(bars));
	table_take(t, str_take(change));
}

/* Adds a row for each subject: its runs. */
static void
add_subjects(struct table *t, const struct kase *k, const char *metric)
{
	struct range l = {INFINITY, -INFINITY};

	for (size_t i = 0; i < k->ncells; i++)
		fit_values(&l, model_metric(k->cells[i], metric));
	for (size_t i = 0; i < k->ncells; i++) {
		const struct json *one = model_metric(k->cells[i], metric);
		const struct delta *d = find_delta(k, k->cells[i], metric);
		double value[2] = {0, json_get_num(one, "median", NAN)};
		struct str bars = {0}, change = {0};
		size_t n;
		double *v = json_numbers(json_get(one, "values"), &n);

		draw_bars(&bars, v, n, &l);
		if (d) { /* the value that agrees with the change */
			changetext_values(&d->text, value);
			changetext_interval(&change, &d->text);
			str_printf(&change, " %s", verdict_word(d->verdict));
		}
		add_row(t, i ? "" : k->name, k->cells[i]->subject->name, metric,
		    value[1], &bars, &change);
		free(v);
	}
}

static void
format_last_change(struct str *s, const struct model *m, const struct kase *k,
    const char *metric)
{
	for (size_t i = m->nchanges; i-- > 0;) {
		const struct change *c = &m->changes[i];

		if (c->kase != k || strcmp(c->text.metric, metric) != 0)
			continue;
		changetext_percent(s, &c->text);
		str_printf(s, " at %s %s%s", c->subject->name, c->slow, c->way);
		return;
	}
}

/* Adds one row for all subjects: their medians. */
static void
add_history(struct table *t, const struct model *m, const struct kase *k,
    const char *metric)
{
	double *v = mem_array(k->ncells, sizeof *v), last = NAN;
	struct range l = {INFINITY, -INFINITY};
	struct str bars = {0}, change = {0}, who = {0};
	size_t n = 0;

	for (size_t i = 0; i < k->ncells; i++) {
		const struct json *one = model_metric(k->cells[i], metric);

		if (!one)
			continue;
		last = v[n++] = json_get_num(one, "median", NAN);
		l.lo = fmin(l.lo, last);
		l.hi = fmax(l.hi, last);
	}
	str_printf(&who, "%zu subjects", n);
	draw_bars(&bars, v, n, &l);
	format_last_change(&change, m, k, metric);
	add_row(t, k->name, who.s, metric, last, &bars, &change);
	str_free(&who);
	free(v);
}

/* Writes a line; nothing for NULL. */
static void
write_line(struct str *s, const char *mark, const char *text)
{
	if (!text)
		return;
	str_add(s, mark);
	str_visible(s, text);
	str_addc(s, '\n');
}

static void
write_headlines(struct str *s, const struct model *m)
{
	size_t n;
	struct headline *h = headlines_new(m, &n);

	for (size_t i = 0; i < n; i++) {
		write_line(s, "", h[i].caution);
		write_line(s, "", h[i].what);
		if (h[i].contender) {
			str_visible(s, h[i].contender->name);
			str_add(s, " against ");
			str_visible(s, h[i].base->name);
			str_addc(s, '\n');
		}
		for (size_t k = 0; k < h[i].facts.n; k++)
			write_line(s, "  ", h[i].facts.v[k]);
		write_line(s, "Next: ", h[i].next);
		str_addc(s, '\n');
	}
	headlines_free(h, n);
}

void
text_write(struct str *s, const struct model *m)
{
	struct table *t = table_new();
	size_t n = m->ncases < CASES ? m->ncases : CASES;
	struct str left = {0};

	write_headlines(s, m);
	headline_left_out(&left, m);
	if (*left.s)
		str_printf(s, "%s\n\n", left.s);
	str_free(&left);
	table_titles(t, "case|subject|metric|>median|runs|change");
	for (size_t i = 0; i < n; i++) {
		const struct kase *k = m->order[i];
		const char *metric = choose_metric(k);

		if (metric && k->ncells >= HISTORY)
			add_history(t, m, k, metric);
		else if (metric)
			add_subjects(t, k, metric);
	}
	table_print(t, s, false);
	if (n < m->ncases)
		str_printf(s, "and %zu more cases\n", m->ncases - n);
	table_free(t);
}
