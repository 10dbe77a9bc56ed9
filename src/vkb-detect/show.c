#include "show.h"
#include "casename.h"
#include "json.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "record.h"
#include "str.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 10     /* of one change; the records have all */
#define LISTED 10   /* lines of one kind */
#define LIMIT 60000 /* GitHub takes comments of up to 65,536 characters */

static const char *
plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void
headline(
    struct str *s, const struct findings *all, const struct finding_rules *r)
{
	const char *sep = "";

	if (r->latest) {
		for (size_t i = 0; i < VERDICTS; i++) {
			if (!all->verdicts[i])
				continue;
			str_printf(s, "%s%zu %s", sep, all->verdicts[i],
			    verdict_name((enum verdict)i));
			sep = ", ";
		}
		if (!*sep)
			str_add(s, "nothing was judged");
		str_add(s, ", newest commit against ");
		if (r->latest == 1)
			str_add(s, "the one before");
		else
			str_printf(s, "the %zu before", r->latest);
	} else {
		size_t count[FINDING_KINDS] = {0}, counting = 0;

		for (size_t i = 0; i < all->ngroups; i++) {
			count[all->groups[i].kind]++;
			counting += all->groups[i].counts;
		}
		str_printf(s, "%zu regression%s", counting, plural(counting));
		str_printf(s, " that count%s; %zu change%s and %zu spike%s",
		    counting == 1 ? "s" : "",
		    all->ngroups - count[FINDING_SPIKE],
		    plural(all->ngroups - count[FINDING_SPIKE]),
		    count[FINDING_SPIKE], plural(count[FINDING_SPIKE]));
		str_add(s, " in all");
	}
	str_printf(s, " (%zu series of %zu case%s)", all->series, all->cases,
	    plural(all->cases));
}

static void
ordering(struct str *s, const struct branch *b)
{
	str_printf(s, "%zu commit%s in the order of the%s", b->npoints,
	    plural(b->npoints), b->length ? "ir ancestry" : " input");
	if (b->npoints > 1)
		str_printf(s, ", %s to %s", b->points[0].name,
		    b->points[b->npoints - 1].name);
	if (b->length > b->npoints)
		str_printf(s, "; %zu between them not measured",
		    b->length - b->npoints);
	if (b->by_time)
		str_printf(s, "; %zu placed by time", b->by_time);
}

/* What a reader must know about the data, one line each. */
typedef void say_line(void *arg, const char *text);

static void
lost_points(const struct branch *b, say_line *say, void *arg)
{
	struct str s = {0};

	if (!b->nlost)
		return;
	str_printf(&s,
	    "%zu commit%s left out, not on this line of commits: ", b->nlost,
	    plural(b->nlost));
	for (size_t i = 0; i < b->nlost && i < LISTED; i++)
		str_printf(
		    &s, "%s%s", i ? ", " : "", b->points[b->npoints + i].name);
	if (b->nlost > LISTED)
		str_add(&s, ", ...");
	say(arg, s.s);
	str_free(&s);
}

static void
losses(const struct branch *b, say_line *say, void *arg)
{
	struct str s = {0};
	size_t listed = 0, n;

	for (size_t i = 0; i < b->nlosses; i += n) {
		const struct loss *l = &b->losses[i];
		size_t failed = 0;
		char *name;

		for (n = 0;
		     i + n < b->nlosses && b->losses[i + n].kase == l->kase;
		     n++)
			failed += b->losses[i + n].failed;
		if (listed++ >= LISTED)
			continue;
		name = casename_of(b->names, l->config);
		str_printf(
		    &s, "%s: %zu failed run%s", name, failed, plural(failed));
		if (n > 1)
			str_printf(&s, " at %zu commits", n);
		if (l->error)
			str_printf(&s, ": %s", l->error);
		say(arg, s.s);
		str_clear(&s);
		free(name);
	}
	if (listed > LISTED) {
		str_printf(
		    &s, "%zu more cases with failed runs", listed - LISTED);
		say(arg, s.s);
	}
	str_free(&s);
}

static void
warnings(const struct branch *b, const struct findings *all,
    const struct finding_rules *r, say_line *say, void *arg)
{
	struct str s = {0};
	const char *rule;

	lost_points(b, say, arg);
	losses(b, say, arg);
	if (all->tooshort && !r->latest) {
		char *name = casename_of(b->names, all->shortest->config);

		str_printf(&s,
		    "%zu of %zu series too short: %d commits are the least "
		    "(%s %s has %zu)",
		    all->tooshort, all->series, CHANGEPOINT_LEAST, name,
		    all->shortest->metric, all->shortest_n);
		say(arg, s.s);
		str_clear(&s);
		free(name);
	}
	if (all->absent) {
		str_printf(&s, "%zu series not measured at the newest commit",
		    all->absent);
		say(arg, s.s);
		str_clear(&s);
	}
	for (size_t i = 0; r->policy && (rule = policy_unused(r->policy, i));
	     i++) {
		str_printf(&s, "%s: matches nothing", rule);
		say(arg, s.s);
		str_clear(&s);
	}
	str_free(&s);
}

/* Where it is, and how sure that is. */
static void
place(struct str *s, const struct branch *b, const struct finding_group *g)
{
	size_t width = branch_width(b, g->lo, g->hi);
	const char *first = branch_after(b, g->lo);

	str_printf(s, "%s at ", finding_name(g->kind));
	str_add(s, b->points[g->at].name);
	if (b->points[g->at].time)
		str_printf(s, " of %.10s", b->points[g->at].time);
	str_printf(s, ", %zu of %zu", g->at + 1, b->npoints);
	if (width < 2)
		return;
	if (first)
		str_printf(s, "; at any of %zu commits, %.8s to %s", width,
		    first, b->points[g->hi].name);
	else
		str_printf(s, "; at any of %zu, %s to %s", width,
		    b->points[g->lo].name, b->points[g->hi].name);
}

static void
change(struct str *s, const struct finding *f)
{
	const struct verdict_facts *v = &f->facts;

	if (isnan(v->ratio)) {
		str_add(s, "no ratio");
		return;
	}
	str_printf(s, "%+.1f%%", 100 * (v->ratio - 1));
	if (!isnan(v->lo95) && f->kind != FINDING_SPIKE)
		str_printf(s, " [%+.1f, %+.1f]", 100 * (v->lo95 - 1),
		    100 * (v->hi95 - 1));
}

/* Why it does not count, or that it does. */
static void
standing(struct str *s, const struct branch *b, const struct finding *f)
{
	if (f->kind == FINDING_SPIKE)
		str_add(s,
		    f->at + f->n[1] < b->npoints
			? "went away"
			: "at the end: a spike or a new level");
	else if (f->kind != FINDING_REGRESSION)
		str_add(s, "");
	else if (f->waived)
		str_printf(s, "waived until %s: %s", f->waiver.expires,
		    f->waiver.reason);
	else if (!f->stands)
		str_add(s, "taken back since");
	else if (!f->fresh)
		str_add(s, "known before");
	else
		str_add(s, "NEW");
	if (f->waiver.expired && f->kind == FINDING_REGRESSION)
		str_printf(s, ", waiver expired %s", f->waiver.expires);
	if (!f->gate)
		str_add(s, s->len ? ", info" : "info");
}

static void
numbers(struct str *s, const struct finding *f)
{
	char a[NUM_BUF], b[NUM_BUF];

	str_printf(s, "%s -> %s%s%s", num_human(a, f->facts.median[0]),
	    num_human(b, f->facts.median[1]), *f->metric.unit ? " " : "",
	    f->metric.unit);
}

/* Spikes fail nothing: they are short. */
static size_t
room(const struct finding_group *g)
{
	return g->kind == FINDING_SPIKE ? 3 : ROWS;
}

/* The members of a group, in the order of cases. */
static size_t
next_of(const struct findings *all, size_t group, size_t from)
{
	while (from < all->n && all->v[from].group != group)
		from++;
	return from;
}

static const char *
colour_of(const struct finding *f)
{
	if (finding_counts(f))
		return "31";
	return f->kind == FINDING_IMPROVEMENT && f->gate ? "32" : NULL;
}

static void
rows(struct str *s, const struct branch *b, const struct findings *all,
    size_t group, bool colour)
{
	struct table *t = table_new();
	struct str one = {0};
	size_t k = 0;

	table_column(t, "  case", TABLE_LEFT);
	table_column(t, "metric", TABLE_LEFT);
	table_column(t, "before -> after", TABLE_LEFT);
	table_column(t, "change [95%]", TABLE_LEFT);
	table_column(t, "n", TABLE_RIGHT);
	table_column(t, "p", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	for (size_t i = next_of(all, group, 0);
	     i < all->n && k < room(&all->groups[group]);
	     i = next_of(all, group, i + 1), k++) {
		const struct finding *f = &all->v[i];

		str_clear(&one);
		str_printf(&one, "  %s", f->name);
		table_cell(t, one.s);
		table_cell(t, f->metric.name);
		str_clear(&one);
		numbers(&one, f);
		table_cell(t, one.s);
		str_clear(&one);
		change(&one, f);
		table_cell(t, one.s);
		table_style(t, colour_of(f));
		str_clear(&one);
		str_printf(&one, "%zu+%zu", f->n[0], f->n[1]);
		table_cell(t, one.s);
		str_clear(&one);
		str_printf(&one, isnan(f->p) ? "-" : "%.2g", f->p);
		table_cell(t, one.s);
		str_clear(&one);
		standing(&one, b, f);
		table_cell(t, one.s ? one.s : "");
		table_style(t, colour_of(f));
	}
	table_print(t, s, colour);
	if (all->groups[group].n > k)
		str_printf(s, "  %zu more series: --format jsonl\n",
		    all->groups[group].n - k);
	table_free(t);
	str_free(&one);
}

static void
text_warning(void *arg, const char *text)
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

	headline(s, all, r);
	str_addc(s, '\n');
	ordering(&one, b);
	str_visible(s, one.s);
	str_addc(s, '\n');
	for (size_t i = 0; i < all->ngroups; i++) {
		str_clear(&one);
		place(&one, b, &all->groups[i]);
		str_addc(s, '\n');
		str_visible(s, one.s);
		str_addc(s, '\n');
		rows(s, b, all, i, colour);
	}
	if (all->ngroups)
		str_addc(s, '\n');
	if (all->series && *common) {
		str_add(s, "all cases: ");
		str_visible(s, common);
		str_addc(s, '\n');
	}
	warnings(b, all, r, text_warning, s);
	str_free(&one);
	free(common);
}

static void
markdown_warning(void *arg, const char *text)
{
	struct str *s = arg;

	str_add(s, "- ");
	markup_markdown(s, text);
	str_addc(s, '\n');
}

static void
cell(struct str *s, struct str *one)
{
	str_add(s, " | ");
	markup_markdown(s, one->s ? one->s : "");
	str_clear(one);
}

static void
markdown_group(struct str *s, const struct branch *b,
    const struct findings *all, size_t group)
{
	const struct finding_group *g = &all->groups[group];
	struct str one = {0};
	size_t k = 0;

	place(&one, b, g);
	str_add(s, g->counts ? "\n**" : "\n");
	markup_markdown(s, one.s);
	str_add(s, g->counts ? "**\n\n" : "\n\n");
	str_clear(&one);
	str_add(s,
	    "| case | metric | before | after | change [95%] | n | p | |\n"
	    "|---|---|---:|---:|---|---:|---:|---|\n");
	for (size_t i = next_of(all, group, 0);
	     i < all->n && k < room(&all->groups[group]);
	     i = next_of(all, group, i + 1), k++) {
		const struct finding *f = &all->v[i];
		char v[NUM_BUF];

		str_add(s, "| ");
		markup_markdown(s, f->name);
		str_add(&one, f->metric.name);
		cell(s, &one);
		str_add(&one, num_human(v, f->facts.median[0]));
		cell(s, &one);
		str_add(&one, num_human(v, f->facts.median[1]));
		cell(s, &one);
		change(&one, f);
		cell(s, &one);
		str_printf(&one, "%zu+%zu", f->n[0], f->n[1]);
		cell(s, &one);
		str_printf(&one, isnan(f->p) ? "-" : "%.2g", f->p);
		cell(s, &one);
		standing(&one, b, f);
		cell(s, &one);
		str_add(s, " |\n");
	}
	if (g->n > k)
		str_printf(s, "\n%zu more series\n", g->n - k);
	str_free(&one);
}

void
show_markdown(struct str *s, const struct branch *b, const struct findings *all,
    const struct finding_rules *r)
{
	struct str one = {0};
	size_t i = 0;

	str_add(s, "### ");
	headline(&one, all, r);
	markup_markdown(s, one.s);
	str_add(s, "\n\n");
	str_clear(&one);
	ordering(&one, b);
	markup_markdown(s, one.s);
	str_addc(s, '\n');
	for (; i < all->ngroups && s->len < LIMIT - 20000; i++)
		markdown_group(s, b, all, i);
	if (i < all->ngroups)
		str_printf(s, "\n%zu more left out\n", all->ngroups - i);
	str_addc(s, '\n');
	warnings(b, all, r, markdown_warning, s);
	str_free(&one);
}

static struct json *
range(const struct branch *b, const struct finding *f)
{
	const char *first = branch_after(b, f->lo);
	const char *last = b->points[f->hi].commit;
	struct json *j;

	if (!first || !last)
		return NULL;
	j = json_array();
	json_push(j, json_string(first));
	json_push(j, json_string(last));
	return j;
}

/* Stable over reports: what it is and where most of its series have it. */
static char *
group_key(const struct branch *b, const struct finding_group *g)
{
	struct str s = {0};
	char *key;

	str_printf(&s, "%s\n", finding_name(g->kind));
	if (b->points[g->at].commit)
		str_add(&s, b->points[g->at].commit);
	else
		record_room(&s, b->points[g->at].subject);
	key = mem_printf("%016llx", str_hash(STR_HASH, s.s, s.len));
	str_free(&s);
	return key;
}

static struct json *
record(
    const struct branch *b, const struct findings *all, const struct finding *f)
{
	static const char *const better[] = {
	    [METRIC_HIGHER] = "higher",
	    [METRIC_LOWER] = "lower",
	    [METRIC_NEITHER] = "neither",
	};
	struct json *rec = record_new("change"), *waiver;
	const struct point *p = &b->points[f->at];
	char *key = finding_key(f, b), *group;

	json_set(rec, "config", json_dup(f->series->config));
	json_set_str(rec, "metric", f->metric.name);
	json_set_str(rec, "better", better[f->metric.better]);
	json_set_str(rec, "kind", finding_name(f->kind));
	json_set(rec, "subject", json_dup(p->subject));
	json_set_str(rec, "commit", p->commit);
	if (f->lo)
		json_set(
		    rec, "previous", json_dup(b->points[f->lo - 1].subject));
	json_set(rec, "range", range(b, f));
	json_set_num(rec, "index", (double)f->at);
	json_set(rec, "indexes", json_pair((double)f->lo, (double)f->hi));
	json_set(rec, "n", json_pair((double)f->n[0], (double)f->n[1]));
	json_set(
	    rec, "median", json_pair(f->facts.median[0], f->facts.median[1]));
	json_set_num(rec, "ratio", f->facts.ratio);
	if (!isnan(f->facts.lo95))
		json_set(rec, "ci95", json_pair(f->facts.lo95, f->facts.hi95));
	json_set_num(rec, "p", f->p);
	json_set_str(rec, "method", f->method);
	json_set_str(rec, "class", f->gate ? "gate" : "info");
	json_set_num(rec, "margin", f->margin);
	json_set_str(rec, "first_seen", p->time);
	json_set_bool(
	    rec, "new", f->fresh && f->stands && f->kind != FINDING_SPIKE);
	group = group_key(b, &all->groups[f->group]);
	json_set_str(rec, "group", group);
	json_set_str(rec, "key", key);
	if (f->waived) {
		waiver = json_object();
		json_set_str(waiver, "rule", f->waiver.rule);
		json_set_str(waiver, "reason", f->waiver.reason);
		json_set_str(waiver, "expires", f->waiver.expires);
		json_set(rec, "waiver", waiver);
	}
	free(group);
	free(key);
	return rec;
}

void
show_jsonl(struct str *s, const struct branch *b, const struct findings *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct json *rec = record(b, all, &all->v[i]);

		json_append(s, rec);
		str_addc(s, '\n');
		json_free(rec);
	}
}
