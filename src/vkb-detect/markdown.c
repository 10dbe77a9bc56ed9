#include "json.h"
#include "markup.h"
#include "num.h"
#include "phrase.h"
#include "rebuild.h"
#include "show.h"
#include "str.h"

#include <math.h>
#include <string.h>

#define LIMIT 60000 /* GitHub takes comments of up to 65,536 characters */
#define ISSUE 49000 /* bytes of the table of an issue, without its last row */
#define TITLE 160   /* bytes; GitHub takes 256 characters */

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

/* Is it the number of requests a second, or the highest rate? */
static bool
is_throughput(const struct finding *f)
{
	return str_ends(metric_base(f->metric.name), "rps");
}

static void
write_finding(struct str *s, const struct branch *b, const struct finding *f)
{
	struct str one = {0};
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
	phrase_sureness(&one, f);
	write_markdown_cell(s, &one);
	phrase_standing(&one, b, f);
	write_markdown_cell(s, &one);
	str_add(s, " |\n");
	str_free(&one);
}

/* Adds a table of at most 'most' rows, throughput first, which ends when the
 * string is longer than 'limit' bytes. */
static void
write_table(struct str *s, const struct branch *b, const struct findings *all,
    size_t group, size_t most, size_t limit)
{
	size_t k = 0;

	str_add(s,
	    "| case | metric | before | after | change [95%] | n | sure | |\n"
	    "|---|---|---:|---:|---|---:|---:|---|\n");
	for (int others = 0; others < 2; others++)
		for (size_t i = finding_find_next(all, group, 0);
		     i < all->n && k < most && s->len < limit;
		     i = finding_find_next(all, group, i + 1)) {
			if (is_throughput(&all->v[i]) == others)
				continue;
			write_finding(s, b, &all->v[i]);
			k++;
		}
	if (all->groups[group].n > k)
		str_printf(s, "\n%zu more series\n", all->groups[group].n - k);
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
	write_table(s, b, all, group, show_row_limit(g), LIMIT);
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
	str_clear(&one);
	phrase_machines(&one, b);
	if (one.len) {
		str_add(s, "\n");
		markup_markdown(s, one.s);
		str_addc(s, '\n');
	}
	for (; i < all->ngroups && s->len < LIMIT - 20000; i++)
		write_markdown_group(s, b, all, i);
	if (i < all->ngroups)
		str_printf(s, "\n%zu more left out\n", all->ngroups - i);
	str_addc(s, '\n');
	phrase_warnings(b, all, r, write_markdown_warning, s);
	str_free(&one);
}

/* --- the text of an issue */

static bool
is_id(const char *s)
{
	size_t n = s ? strspn(s, "0123456789abcdef") : 0;

	return n >= 7 && n <= 64 && !s[n];
}

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
get_repository(const struct point *p)
{
	const char *s = json_get_str(p->subject, "repository");

	return is_repository(s) && is_id(p->commit) ? s : NULL;
}

static void
write_commit(struct str *s, const struct point *p)
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

/* Cuts the names until the title fits TITLE. */
static void
write_issue_title(struct str *s, const struct branch *b,
    const struct finding *f, const struct finding_group *g)
{
	size_t from = s->len;
	const char *zero;

	for (size_t most = 80; most; most -= 10) {
		struct str plain = {0};

		markup_cut(&plain, f->name, most);
		str_add(&plain, ": ");
		markup_cut(&plain, f->metric.name, most);
		zero =
		    verdict_name_zero(f->facts.median[0], f->facts.median[1]);
		if (zero)
			str_printf(&plain, " %s", zero);
		else if (!isnan(f->facts.ratio))
			str_printf(
			    &plain, " %+.1f%%", 100 * (f->facts.ratio - 1));
		str_add(&plain,
		    f->kind == FINDING_TREND ? " slowly from " : " since ");
		markup_cut(&plain, b->points[g->at].name, most);
		if (g->n > 1)
			str_printf(&plain, ", and %zu more", g->n - 1);
		markup_markdown(s, plain.s);
		str_free(&plain);
		if (s->len - from <= TITLE)
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
	struct str one = {0};

	str_add(s, "**");
	markup_markdown(s, f->metric.name);
	str_add(s, "** of **");
	markup_markdown(s, f->name);
	str_printf(s, "** %s from ",
	    f->facts.median[1] < f->facts.median[0] ? "fell" : "rose");
	phrase_numbers(&one, f, " to ");
	markup_markdown(s, one.s);
	str_clear(&one);
	phrase_change(&one, f);
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
	str_add(s, ".\nThe brackets hold the 95 % confidence interval.\n");
	if (all->groups[f->group].n > 1)
		str_printf(s, "%zu series show it.\n", all->groups[f->group].n);
	str_clear(&one);
	phrase_shown_by(&one, b, f);
	if (one.len) {
		str_add(s, "Seen ");
		markup_markdown(s, one.s);
		str_add(s, ".\n");
	}
	str_free(&one);
}

/* Returns the last point with the old level; NULL: its commit or that of 'hi'
 * is not known. */
static const struct point *
get_old_point(const struct branch *b, const struct finding_group *g)
{
	const struct point *p = g->lo ? &b->points[g->lo - 1] : NULL;

	return p && is_id(p->commit) && is_id(b->points[g->hi].commit) ? p
								       : NULL;
}

static void
write_issue_place(
    struct str *s, const struct branch *b, const struct finding_group *g)
{
	const struct point *p = &b->points[g->at], *old = get_old_point(b, g);
	size_t width = branch_count_suspects(b, g->lo, g->hi);
	struct str one = {0};

	str_add(
	    s, g->kind == FINDING_TREND ? "It began at " : "It changed at ");
	write_commit(s, p);
	if (p->time) {
		str_printf(&one, " (%.10s)", p->time);
		markup_markdown(s, one.s);
		str_clear(&one);
	}
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
write_command(struct str *s, const struct point *old, const struct point *last)
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
	const struct point *old = get_old_point(b, g);
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

void
show_issue(struct str *s, const struct branch *b, const struct findings *all,
    const struct finding_rules *r, size_t group)
{
	const struct finding_group *g = &all->groups[group];
	const struct finding *f = find_worst(all, group);

	str_add(s, "# ");
	write_issue_title(s, b, f, g);
	str_printf(s, "\n<!-- vkb-key: %s -->\n\n", g->key);
	write_issue_change(s, b, all, f, r);
	str_addc(s, '\n');
	write_issue_place(s, b, g);
	str_addc(s, '\n');
	write_table(s, b, all, group, all->n, ISSUE);
	write_issue_steps(s, b, g, f);
	str_printf(s,
	    "\nThe key of this change is `%s`; it stays when more commits are "
	    "measured.\n",
	    g->key);
}
