/*
 * vkb-detect: finds the changes in a history of runs or summaries and writes
 * reports or change records. Exit status 1: there is a regression.
 */
#include "casename.h"
#include "changepoint.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "machines.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "opt.h"
#include "output.h"
#include "proc.h"
#include "reading.h"
#include "rebuild.h"
#include "record.h"
#include "str.h"
#include "table.h"
#include "vkb-detect/finding.h"
#include "vkb-detect/phrase.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Reports of findings: text for a terminal, Markdown, the text of an issue,
 * records. Each writer appends to a string, and writes equal bytes for equal
 * input.
 */

#define ROWS 10     /* of one change; JSON lines have all */
#define LIMIT 60000 /* GitHub takes comments of up to 65,536 characters */
#define ISSUE 49000 /* bytes of the table of an issue */
#define TITLE 160   /* bytes; GitHub takes 256 characters */

/* What is written to: text for a terminal, or Markdown. */
struct page {
	struct str *to;
	bool markdown, colour;
};

/* Is it the number of requests a second, or the highest rate? */
static bool
is_throughput(const struct finding *f)
{
	return str_ends(metric_base(f->metric.name), "rps");
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
add_row(struct table *t, const struct branch *b, const struct finding *f,
    const char *indent)
{
	struct str one = {0};

	table_take(t, mem_printf("%s%s", indent, f->name));
	metric_write_label(&one, f->metric.name);
	table_take(t, str_take(&one));
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

/* Writes at most 'most' rows of a change, throughput first, and of Markdown not
 * more than 'limit' bytes. */
static void
write_rows(const struct page *p, const struct branch *b,
    const struct findings *all, size_t group, size_t most, size_t limit)
{
	const char *indent = p->markdown ? "" : "  ";
	struct table *t = table_new();
	size_t k = 0;

	table_titles(t,
	    p->markdown
		? "case|metric|>before -> after|change [95%]|>n|>sure|"
		: "  case|metric|before -> after|change [95%]|>n|>sure|");
	for (int others = 0; others < 2; others++)
		for (size_t i = finding_find_next(all, group, 0);
		     i < all->n && k < most;
		     i = finding_find_next(all, group, i + 1))
			if (is_throughput(&all->v[i]) != others) {
				add_row(t, b, &all->v[i], indent);
				k++;
			}
	if (p->markdown)
		k = table_markdown(t, p->to, limit);
	else
		table_print(t, p->to, p->colour);
	if (all->groups[group].n > k)
		str_printf(p->to, "%s%zu more series%s\n",
		    p->markdown ? "\n" : indent, all->groups[group].n - k,
		    p->markdown ? "" : ": --format jsonl");
	table_free(t);
}

/* Writes a line, escaped. */
static void
write_line(const struct page *p, const char *before, const char *text,
    const char *after)
{
	str_add(p->to, p->markdown ? before : "");
	(p->markdown ? markup_markdown : str_visible)(p->to, text);
	str_add(p->to, p->markdown ? after : "\n");
}

static void
write_warning(void *arg, const char *text)
{
	const struct page *p = arg;

	str_add(p->to, p->markdown ? "" : "warning: ");
	write_line(p, "- ", text, "\n");
}

static void
write_group(const struct page *p, const struct branch *b,
    const struct findings *all, size_t group)
{
	const struct finding_group *g = &all->groups[group];
	struct str one = {0};

	phrase_place(&one, b, g);
	str_addc(p->to, '\n');
	write_line(
	    p, g->counts ? "**" : "", one.s, g->counts ? "**\n\n" : "\n\n");
	write_rows(
	    p, b, all, group, g->kind == FINDING_SPIKE ? 3 : ROWS, LIMIT);
	str_free(&one);
}

/* Have all cases values? What is common to cases does not tell of others. */
static bool
has_all_values(const struct branch *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->nseries; i++)
		n += !i || b->series[i].kase != b->series[i - 1].kase;
	return n == b->reading->n;
}

/* For a terminal, or as Markdown. */
static void
format_report(struct str *s, const struct branch *b, const struct findings *all,
    const struct finding_rules *r, bool markdown, bool colour)
{
	struct page p = {s, markdown, colour};
	struct str one = {0};
	char *common = casename_common(b->names);
	size_t i = 0;

	phrase_headline(&one, all, r);
	write_line(&p, "### ", one.s, "\n\n");
	str_clear(&one);
	phrase_ordering(&one, b);
	write_line(&p, "", one.s, "\n");
	str_clear(&one);
	phrase_machines(&one, b);
	if (one.len)
		write_line(&p, "\n", one.s, "\n");
	while (i < all->ngroups && (!markdown || s->len < LIMIT - 20000))
		write_group(&p, b, all, i++);
	if (i < all->ngroups)
		str_printf(s, "\n%zu more left out\n", all->ngroups - i);
	if (i || markdown)
		str_addc(s, '\n');
	if (all->series && *common && has_all_values(b)) {
		str_add(s, "all cases: ");
		write_line(&p, "", common, "\n\n");
	}
	phrase_warnings(b, all, r, write_warning, &p);
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

/* Sets the numbers of a change, of one machine or of all. */
static void
set_facts(struct json *rec, const size_t n[2], const struct verdict_facts *v,
    bool interval)
{
	json_set(rec, "n", json_pair((double)n[0], (double)n[1]));
	json_set(rec, "median", json_pair(v->median[0], v->median[1]));
	json_set_num(rec, "ratio", v->ratio);
	if (!isnan(v->lo95) && interval)
		json_set(rec, "ci95", json_pair(v->lo95, v->hi95));
}

/* Sets which machines show the change, the first as in the record itself, and
 * which do not. */
static void
set_machines(struct json *rec, const struct branch *b, const struct finding *f)
{
	struct str seen = {0};
	const struct machines *names = b->reading->machines;
	struct json *with = json_array(), *without = json_array();

	for (size_t i = 0; i < f->nparts; i++) {
		const struct finding_part *p = &f->parts[i];
		struct json *j = json_object();

		json_set_str(j, "machine", machines_name(names, p->machine));
		set_facts(j, p->n, &p->facts, true);
		json_push(with, j);
	}
	for (size_t i = 0; i < f->nwithout; i++)
		json_push(
		    without, json_string(machines_name(names, f->without[i])));
	json_set_filled(rec, "machines", with);
	json_set_filled(rec, "machines_without", without);
	phrase_shown_by(&seen, b, f, SIZE_MAX);
	json_set_str(rec, "seen", seen.s);
	str_free(&seen);
}

static struct json *
make_change(
    const struct branch *b, const struct findings *all, const struct finding *f)
{
	struct json *rec = record_new("change");
	const struct branch_point *p = &b->points[f->at];
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
	set_facts(rec, f->n, &f->facts, f->kind != FINDING_SPIKE);
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

static void
write_changes(struct str *s, const struct branch *b, const struct findings *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct json *rec = make_change(b, all, &all->v[i]);

		json_append_line(s, rec);
		json_free(rec);
	}
}

/* --- the text of an issue */

/* Is it owner/name of GitHub? */
static bool
is_repository(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
				      "._";
	size_t owner = s ? strspn(s, letters) : 0, name;

	/* An owner has no '.' and no '_'. */
	if (!owner || owner > 39 || s[owner] != '/' || *s == '-' ||
	    strcspn(s, "._") < owner)
		return false;
	s += owner + 1;
	name = strspn(s, letters);
	return name && name <= 100 && !s[name] && strcmp(s, ".") != 0 &&
	    strcmp(s, "..") != 0;
}

/* Returns the GitHub repository of a point; NULL: not known. */
static const char *
get_repository(const struct branch_point *p)
{
	const char *s = json_get_str(p->subject, "repository");

	return is_repository(s) && record_is_id(p->commit) ? s : NULL;
}

static void
write_commit(struct str *s, const struct branch_point *p)
{
	const char *where = get_repository(p);

	str_add(s, where ? "[" : "");
	markup_markdown(s, p->name);
	if (where)
		str_printf(
		    s, "](https://github.com/%s/commit/%s)", where, p->commit);
}

/* Returns the largest change of those that count, of throughput if some are; or
 * NULL. */
static const struct finding *
find_worst(const struct findings *all, size_t group)
{
	const struct finding *best = NULL;
	double most = -1;

	for (size_t i = finding_find_next(all, group, 0); i < all->n;
	     i = finding_find_next(all, group, i + 1)) {
		const struct finding *f = &all->v[i];
		double size = fabs(log(f->facts.ratio));

		if (!finding_is_counted(f))
			continue;
		if (isnan(size))
			size = f->facts.median[0] == 0 ? INFINITY : 0;
		if (best && is_throughput(f) != is_throughput(best)
			? is_throughput(f)
			: size > most) {
			best = f;
			most = size;
		}
	}
	return best;
}

/* Returns how many cases the findings of a group have. */
static size_t
count_cases(const struct findings *all, size_t group)
{
	struct intern *cases = intern_new();
	size_t n;

	for (size_t i = finding_find_next(all, group, 0); i < all->n;
	     i = finding_find_next(all, group, i + 1))
		intern_id(cases, all->v[i].name);
	n = intern_count(cases);
	intern_free(cases);
	return n;
}

enum { SHORTEST = 10 }; /* bytes of a name in a title, at least */

/* Writes since when a change is there, with names of at most so many bytes. A
 * title could be read as the cause, so only a commit that is it has one. */
static void
write_issue_since(struct str *s, const struct branch *b,
    const struct finding_group *g, size_t most)
{
	const struct branch_point *p = &b->points[g->at];
	size_t width = branch_count_suspects(b, g->lo, g->hi);

	if (g->kind == FINDING_TREND) {
		str_add(s, ", gradually since ");
	} else if (width > 1) {
		str_printf(s, " since one of %zu commits up to ", width);
		p = &b->points[g->hi];
	} else {
		str_add(s, " since ");
	}
	markup_cut(s, p->name, most);
	if (g->kind == FINDING_TREND || width > 1 || !p->title ||
	    most <= SHORTEST)
		return;
	str_add(s, " (");
	markup_cut(s, p->title, most);
	str_addc(s, ')');
}

/* Writes "GET P10: p99 9.1% higher since 1a2b3c4d (Rewrite the iterator)", and
 * how many other cases changed. Cuts the names until that fits TITLE, and
 * leaves the commit's title out at last: there is always a title. */
static void
write_issue_title(struct str *s, const struct branch *b,
    const struct findings *all, const struct finding *f)
{
	size_t from = s->len, cases = count_cases(all, f->group);

	for (size_t most = 80;; most -= 10) {
		struct str plain = {0}, named = {0};

		markup_cut(&plain, f->name, most);
		str_add(&plain, ": ");
		phrase_named(&named, f);
		markup_cut(&plain, named.s, 80);
		str_free(&named);
		write_issue_since(&plain, b, &all->groups[f->group], most);
		if (cases > 1)
			str_printf(&plain, ", and %zu more case%s", cases - 1,
			    num_plural((double)cases - 1));
		markup_markdown(s, plain.s);
		str_free(&plain);
		if (s->len - from <= TITLE || most <= SHORTEST)
			return;
		s->len = from;
	}
}

static void
write_issue_change(struct str *s, const struct branch *b,
    const struct findings *all, const struct finding *f,
    const struct finding_rules *r)
{
	const char *unit = r->latest ? "run" : "commit";
	size_t cases = count_cases(all, f->group);
	struct str one = {0};
	bool interval;

	str_add(s, "The **");
	metric_write_label(&one, f->metric.name);
	markup_markdown(s, one.s);
	str_clear(&one);
	str_add(s, "** of **");
	markup_markdown(s, f->name);
	str_printf(s, "** %s from ",
	    f->facts.median[1] < f->facts.median[0] ? "fell" : "rose");
	phrase_numbers(&one, f, " to ");
	markup_markdown(s, one.s);
	str_clear(&one);
	phrase_change(&one, f);
	interval = strchr(one.s, '[') != NULL;
	str_add(s, ": ");
	markup_markdown(s, one.s);
	if (f->kind == FINDING_TREND)
		str_printf(s, ", a trend over %zu %ss", f->n[1], unit);
	else
		str_printf(s, ", %zu %s%s before and %zu after", f->n[0], unit,
		    num_plural(f->n[0]), f->n[1]);
	if (!isnan(f->probability)) {
		str_clear(&one);
		phrase_sureness(&one, f);
		str_add(s, ", probability ");
		markup_markdown(s, one.s);
		str_clear(&one);
	}
	str_add(s, ".\n");
	if (interval)
		str_add(s, "The brackets hold the 95 % confidence interval.\n");
	if (cases > 1)
		str_printf(s, "%zu cases show it.\n", cases);
	str_clear(&one);
	phrase_shown_by(&one, b, f, PHRASE_MACHINES);
	if (one.len) {
		str_add(s, "Seen ");
		markup_markdown(s, one.s);
		str_add(s, ".\n");
	}
	str_free(&one);
}

/* Returns the last point with the old level; NULL: its commit or that of 'hi'
 * is not known. */
static const struct branch_point *
get_old_point(const struct branch *b, const struct finding_group *g)
{
	const struct branch_point *p = g->lo ? &b->points[g->lo - 1] : NULL;

	return p && record_is_id(p->commit) &&
		record_is_id(b->points[g->hi].commit)
	    ? p
	    : NULL;
}

static void
write_issue_place(
    struct str *s, const struct branch *b, const struct finding_group *g)
{
	const struct branch_point *p = &b->points[g->at],
				  *old = get_old_point(b, g);
	size_t width = branch_count_suspects(b, g->lo, g->hi);
	struct str one = {0};

	str_add(
	    s, g->kind == FINDING_TREND ? "It began at " : "It changed at ");
	write_commit(s, p);
	phrase_commit(&one, p);
	markup_markdown(s, one.s);
	str_clear(&one);
	if (g->kind == FINDING_TREND) {
		str_add(s, " and went on to ");
		write_commit(s, &b->points[g->hi]);
		str_printf(s, "; %zu commits together are the cause", width);
	} else if (width > 1)
		str_printf(s, "; any of %zu commits may be the cause", width);
	if (old && get_repository(&b->points[g->hi]))
		str_printf(s,
		    " ([what changed](https://github.com/%s/compare/%s...%s))",
		    get_repository(&b->points[g->hi]), old->commit,
		    b->points[g->hi].commit);
	str_add(s, ".\nSeen in ");
	phrase_ordering(&one, b);
	markup_markdown(s, one.s);
	str_add(s, ".\n");
	str_free(&one);
}

/* Writes the command that measures both sides again, in a clone that has both
 * commits, or why only the machine that measured them can. Returns false, and
 * writes nothing, if that is not known or cannot stand in a span of code. */
static bool
write_command(struct str *s, const struct branch_point *old,
    const struct branch_point *last)
{
	const struct json *subject = last->subject;
	bool known =
	    rebuild_is_known(subject) && rebuild_is_same(old->subject, subject);
	const char *why = known ? rebuild_only_here(subject) : NULL;
	struct str options = {0};

	if (why) {
		str_printf(s, " as before: %s.\n", why);
		return true;
	}

	str_add(&options, "");
	rebuild_add_options(&options, subject);
	for (size_t i = 0; i < options.len; i++)
		known &= options.s[i] >= ' ' && options.s[i] <= '~' &&
		    options.s[i] != '`';
	if (known)
		str_printf(s,
		    ", in a clone that has both commits, with the "
		    "configuration "
		    "as config.json:\n"
		    "  `vkb-ab -C . %.12s %.12s%s -- config.json --runs 10`\n",
		    old->commit, last->commit, options.s);
	str_free(&options);
	return known;
}

static void
write_issue_steps(struct str *s, const struct branch *b,
    const struct finding_group *g, const struct finding *f)
{
	const struct branch_point *old = get_old_point(b, g);
	const char *last = b->points[g->hi].commit;

	str_add(s, "\n**What to do**\n\n");
	if (f->nparts == 1 && f->nwithout)
		str_add(s,
		    "- Only one machine shows it: look at what changed on that "
		    "machine at that time, such as its kernel, its settings or "
		    "its other work.\n");
	str_add(
	    s, "- Measure both sides again, interleaved, on the same machine");
	if (!old || !write_command(s, old, &b->points[g->hi]))
		str_add(s, ".\n");
	if (branch_count_suspects(b, g->lo, g->hi) > 1)
		str_add(s,
		    "- Measure more of the commits between them, to find the "
		    "cause.\n");
	if (old)
		str_printf(s,
		    "- Read what changed: `git log -p %.12s..%.12s`\n",
		    old->commit, last);
	str_add(s,
	    "- If the cost is accepted, add a waiver with a reason and an "
	    "expiry date: vkb-policy(5).\n");
}

/* The text of an issue about one change: its title, after '# ', its key, and
 * what to do. It is not longer than GitHub takes. */
static void
write_issue(struct str *s, const struct branch *b, const struct findings *all,
    const struct finding_rules *r, size_t group)
{
	const struct finding_group *g = &all->groups[group];
	const struct finding *f = find_worst(all, group);
	size_t from = s->len; /* other issues may be before it */

	str_add(s, "# ");
	write_issue_title(s, b, all, f);
	str_printf(s, "\n<!-- vkb-key: %s -->\n\n", g->key);
	write_issue_change(s, b, all, f, r);
	str_addc(s, '\n');
	write_issue_place(s, b, g);
	str_addc(s, '\n');
	write_rows(&(struct page){s, true, false}, b, all, group, all->n,
	    from + ISSUE);
	write_issue_steps(s, b, g, f);
	str_printf(s,
	    "\nThe key of this change is `%s`; it stays when more commits are "
	    "measured.\n",
	    g->key);
}

struct opts {
	const char *metrics, *since, *policy, *database, *table;
	struct opt_list formats;
	long long latest;
};

#define AT(f) offsetof(struct opts, f)
#define EXPORTER "vkb-pgpush"

static const struct opt option_table[] = {
    {'f', "format", OPT_LIST, AT(formats), "FORMAT[:FILE]",
	.help = "write text (default), markdown, issue, jsonl; repeatable"},
    {'m', "metrics", OPT_STR, AT(metrics), "WHAT",
	.help = "judge all, latency, or a list of metrics: A,B"},
    {0, "database", OPT_STR, AT(database), "CONNINFO",
	.help = "read runs from PostgreSQL, as vkb-pgpush --export"},
    {0, "table", OPT_STR, AT(table), "ID",
	.help = "read core (default), tag or a module from PostgreSQL"},
    {0, "since", OPT_STR, AT(since), "COMMIT|DATE",
	.help = "count only regressions at or after this"},
    {0, "policy", OPT_STR, AT(policy), "FILE",
	.help = "read margins, classes and waivers: vkb-policy(5)"},
    {0, "latest", OPT_INT, AT(latest), "N", .min = 1, .max = 1000,
	.help = "compare the newest commit with the N before it"},
    {0}};

static const struct opt_prog program = {.name = "vkb-detect",
    .operands = "[FILE ...]",
    .purpose = "Where did a history change? Exit 1: a regression.",
    .table = option_table};

/* In the order of 'format_names'. */
enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_ISSUE, FORMAT_JSONL };

static const char *const format_names[] = {
    "text", "markdown", "issue", "jsonl", NULL};

static int
make_rules(const struct opts *o, struct finding_rules *r)
{
	*r = (struct finding_rules){
	    .metrics = o->metrics, .latest = (size_t)o->latest};
	if (clock_today(r->today, getenv("SOURCE_DATE_EPOCH")) < 0)
		return -1;
	if (o->policy && !(r->policy = policy_read(o->policy)))
		return -1;
	return 0;
}

/* Writes the commit that reverted the regression of a group to a file named by
 * its key. */
static int
write_revert(const struct output *o, const struct branch *b,
    const struct findings *all, size_t group)
{
	size_t at = finding_find_revert(all, group);
	struct output one = *o;
	struct str s = {0};
	char *file;
	int rc;

	if (at == SIZE_MAX)
		return 0;
	one.file = file =
	    mem_printf("%s%s.reverted", o->file, all->groups[group].key);
	str_visible(&s, b->points[at].name);
	str_addc(&s, '\n');
	rc = output_write(&one, &s);
	free(file);
	str_free(&s);
	return rc;
}

/* Writes all issues to one file, or into a folder, each to a file named by its
 * key. */
static int
write_issues(const struct output *o, const struct branch *b,
    const struct findings *all, const struct finding_rules *r)
{
	bool folder = o->file && str_ends(o->file, "/");
	struct str s = {0};
	int rc = 0;

	str_add(&s, "");
	for (size_t i = 0; i < all->ngroups; i++) {
		const struct finding_group *g = &all->groups[i];
		struct output one = *o;
		char *file;

		if (!g->counts) {
			if (folder && write_revert(o, b, all, i) < 0)
				rc = -1;
			continue;
		}
		if (s.len)
			str_addc(&s, '\n');
		write_issue(&s, b, all, r, i);
		if (!folder)
			continue;
		one.file = file = mem_printf("%s%s.md", o->file, g->key);
		if (output_write(&one, &s) < 0)
			rc = -1;
		free(file);
		str_clear(&s);
	}
	if (!folder)
		rc = output_write(o, &s);
	str_free(&s);
	return rc;
}

static int
write_report(const struct output *o, const struct branch *b,
    const struct findings *all, const struct finding_rules *r)
{
	struct str s = {0};
	int rc;

	switch ((enum format)o->format) {
	case FORMAT_TEXT:
	case FORMAT_MARKDOWN:
		format_report(&s, b, all, r, o->format == FORMAT_MARKDOWN,
		    output_has_colour(o));
		break;
	case FORMAT_ISSUE:
		return write_issues(o, b, all, r);
	case FORMAT_JSONL:
		write_changes(&s, b, all);
		break;
	}
	rc = output_write(o, &s);
	str_free(&s);
	return rc;
}

static bool
has_metric(const void *branch, const char *name)
{
	const struct branch *b = branch;

	for (size_t i = 0; i < b->nseries; i++)
		if (strcmp(b->series[i].metric, name) == 0)
			return true;
	return false;
}

/* Returns the exit status: 1 if a regression counts, 2 if there is no answer.
 */
static int
decide_status(const struct branch *b, const struct findings *all,
    const struct finding_rules *r)
{
	for (size_t i = 0; i < all->n; i++)
		if (finding_is_counted(&all->v[i]))
			return 1;
	if (!all->series) {
		err_say("nothing was judged: no metric in %zu commit%s",
		    b->npoints, num_plural(b->npoints));
		return 2;
	}
	if (r->latest && !all->enough) {
		err_say("nothing was judged: no case has %d runs%s at the "
			"newest commit '%s' and before it",
		    VERDICT_RUNS, b->machines > 1 ? " of one machine" : "",
		    b->npoints ? b->points[b->npoints - 1].name : "");
		return 2;
	}
	return 0;
}

/* Says that a history is too short, unless a report does. */
static void
warn_too_short(const struct output *out, size_t n, const struct findings *all,
    const struct finding_rules *r)
{
	for (size_t i = 0; i < n; i++)
		if (out[i].format <= FORMAT_MARKDOWN)
			return;
	if (all->series && !r->latest && !all->ngroups &&
	    all->tooshort == all->series)
		err_say("nothing was examined: a series needs %d commits",
		    CHANGEPOINT_LEAST);
}

static bool
uses_database(const struct opts *o)
{
	return o->database || o->table;
}

static int
start_export(const char *database, const char *table, struct proc **p)
{
	char *path = proc_beside(EXPORTER);
	const char *argv[] = {path, "--export", "--table",
	    table ? table : "core", database ? "--database" : NULL, database,
	    NULL};
	const struct proc_spec spec = {.argv = argv, .death_signal = SIGTERM};
	int fd = proc_pipe(&spec, p);

	free(path);
	return fd;
}

/* Reads runs from PostgreSQL by vkb-pgpush --export, which must succeed. */
static int
read_database(struct branch *b, const char *database, const char *table)
{
	struct proc *p;
	struct jsonl *in;
	int fd = start_export(database, table, &p), status, rc;
	char how[80];

	if (fd < 0)
		return -1;
	in = jsonl_fd(fd, "database");
	rc = reading_add(b->reading, b, in);
	jsonl_close(in);
	if (proc_wait(p, -1, &status) && status)
		rc = err_fail(
		    EXPORTER " %s", proc_ended(status, how, sizeof how));
	proc_free(p);
	return rc;
}

/* Reads the database and the files; without either, stdin. */
static int
read_history(
    struct branch *b, const struct opts *o, const struct opt_args *args)
{
	struct jsonl *in;
	int rc = 0;

	branch_begin(b);
	if (uses_database(o))
		rc = read_database(b, o->database, o->table);
	if (args->n || !uses_database(o)) {
		in = jsonl_open((const char *const *)args->v, args->n);
		rc |= reading_add(b->reading, b, in);
		jsonl_close(in);
	}
	branch_end(b, o->latest ? 2 : CHANGEPOINT_LEAST);
	return rc;
}

static int
detect_changes(const struct opts *o, const struct opt_args *args)
{
	struct finding_rules r = {0};
	struct branch b = {0};
	struct findings all = {0};
	struct output *out = NULL;
	size_t nout = 0;
	int rc = 2, trouble;
	long since;

	if (make_rules(o, &r) < 0 ||
	    !(out = output_list(&o->formats, format_names, &nout)))
		goto out;
	trouble = read_history(&b, o, args) < 0;
	if (o->since) {
		since = branch_find_since(&b, o->since);
		if (since < 0)
			goto out;
		r.since = (size_t)since;
	}
	trouble |=
	    metric_check_names(o->metrics, "no case", has_metric, &b) < 0;
	finding_find_all(&all, &b, &r);
	rc = decide_status(&b, &all, &r);
	warn_too_short(out, nout, &all, &r);
	for (size_t i = 0; i < nout; i++)
		if (write_report(&out[i], &b, &all, &r) < 0)
			rc = 2;
	if (trouble && rc == 0)
		rc = 2;
out:
	finding_free(&all);
	branch_free(&b);
	policy_free(r.policy);
	free(out);
	return rc;
}

static int
run_detect(void *opts, struct opt_args *args)
{
	if (!args->n && !uses_database(opts) && opt_stdin(&program) < 0)
		return -1;
	return detect_changes(opts, args);
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_detect);
}
