#include "phrase.h"
#include "casename.h"
#include "changepoint.h"
#include "changetext.h"
#include "machines.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "reading.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

#define LISTED 10 /* lines of one kind */

void
phrase_headline(
    struct str *s, const struct findings *all, const struct finding_rules *r)
{
	if (r->latest) {
		if (!changetext_counts(s, all->verdicts))
			str_add(s, "nothing was judged");
		str_add(s, "; the newest commit is compared with ");
		if (r->latest == 1)
			str_add(s, "the one before it");
		else
			str_printf(s, "up to %zu before it", r->latest);
	} else if (!all->ngroups && all->tooshort == all->series) {
		str_add(s, "nothing was examined");
	} else {
		size_t count[FINDING_KINDS] = {0}, counting = 0, changes;

		for (size_t i = 0; i < all->ngroups; i++) {
			count[all->groups[i].kind]++;
			counting += all->groups[i].counts;
		}
		changes =
		    all->ngroups - count[FINDING_SPIKE] - count[FINDING_TREND];
		str_printf(
		    s, "%zu regression%s", counting, num_plural(counting));
		str_printf(s, " that count%s; %zu change%s",
		    counting == 1 ? "s" : "", changes, num_plural(changes));
		if (count[FINDING_TREND])
			str_printf(s, ", %zu trend%s", count[FINDING_TREND],
			    num_plural(count[FINDING_TREND]));
		str_printf(s, " and %zu spike%s", count[FINDING_SPIKE],
		    num_plural(count[FINDING_SPIKE]));
		str_add(s, " in all");
	}
	str_printf(s, " (%zu series of %zu case%s", all->series, all->cases,
	    num_plural(all->cases));
	if (all->machines > 1)
		str_printf(s, " on %zu machines", all->machines);
	str_addc(s, ')');
}

void
phrase_ordering(struct str *s, const struct branch *b)
{
	str_printf(s, "%zu commit%s in the order of the%s", b->npoints,
	    num_plural(b->npoints),
	    b->length      ? "ir ancestry"
		: b->timed ? "ir time"
			   : " input");
	if (b->npoints > 1)
		str_printf(s, ", %s to %s", b->points[0].name,
		    b->points[b->npoints - 1].name);
	if (b->length > b->npoints)
		str_printf(s, "; %zu between them not measured",
		    b->length - b->npoints);
	if (b->by_time)
		str_printf(s, "; %zu placed by time", b->by_time);
}

void
phrase_machines(struct str *s, const struct branch *b)
{
	const struct machines *m = b->reading ? b->reading->machines : NULL;

	if (b->machines < 2)
		return;
	str_printf(s, "%zu machines, each judged by itself: ", b->machines);
	for (size_t i = 0; i < b->machines && i < LISTED; i++) {
		size_t n = machines_points(m, i);
		const char *is = machines_processor(m, i);

		str_printf(s, "%s%s (%s%s%zu commit%s)", i ? "; " : "",
		    machines_name(m, i), is, *is ? "; " : "", n, num_plural(n));
	}
	if (b->machines > LISTED)
		str_add(s, "; ...");
}

/* Adds the name of a machine, the one with index i, if that is below 'most'. */
static void
add_machine(struct str *s, const struct branch *b, size_t i, size_t machine,
    size_t most)
{
	if (i < most)
		str_printf(s, "%s%s", i ? "; " : "",
		    machines_name(b->reading->machines, machine));
	else if (i == most)
		str_add(s, "; ...");
}

void
phrase_shown_by(
    struct str *s, const struct branch *b, const struct finding *f, size_t most)
{
	size_t of = f->nparts + f->nwithout;
	char buf[NUM_BUF];

	if (!f->nparts)
		return;
	if (of == 1)
		str_add(s, "on ");
	else if (f->nparts == 1)
		str_printf(s, "on only 1 of %zu machines: ", of);
	else if (!f->nwithout)
		str_printf(s, "on %s machines: ", num_all(buf, of));
	else
		str_printf(s, "on %zu of %zu machines: ", f->nparts, of);
	for (size_t i = 0; i < f->nparts; i++)
		add_machine(s, b, i, f->parts[i].machine, most);
	str_add(s, f->nwithout ? "; not on " : "");
	for (size_t i = 0; i < f->nwithout; i++)
		add_machine(s, b, i, f->without[i], most);
}

/* Takes the text. */
static void
say_line(phrase_say *say, void *arg, char *text)
{
	say(arg, text);
	free(text);
}

static void
warn_lost_points(const struct branch *b, phrase_say *say, void *arg)
{
	struct str s = {0};

	if (!b->nlost)
		return;
	str_printf(&s,
	    "%zu commit%s left out, not on this line of commits: ", b->nlost,
	    num_plural(b->nlost));
	for (size_t i = 0; i < b->nlost && i < LISTED; i++)
		str_printf(
		    &s, "%s%s", i ? ", " : "", b->points[b->npoints + i].name);
	if (b->nlost > LISTED)
		str_add(&s, ", ...");
	say_line(say, arg, str_take(&s));
}

static void
warn_losses(const struct branch *b, phrase_say *say, void *arg)
{
	for (size_t i = 0; i < b->nlosses && i < LISTED; i++) {
		const struct branch_loss *l = &b->losses[i];
		char *name = casename_of(b->names, l->config);
		struct str s = {0};

		str_printf(&s, "%s: %zu failed run%s", name, l->failed,
		    num_plural(l->failed));
		if (l->commits > 1)
			str_printf(&s, " at %zu commits", l->commits);
		if (l->error)
			str_printf(&s, ": %s", l->error);
		say_line(say, arg, str_take(&s));
		free(name);
	}
	if (b->nlosses > LISTED)
		say_line(say, arg,
		    mem_printf("%zu more case%s with failed runs",
			b->nlosses - LISTED, num_plural(b->nlosses - LISTED)));
}

void
phrase_warnings(const struct branch *b, const struct findings *all,
    const struct finding_rules *r, phrase_say *say, void *arg)
{
	const char *rule;

	warn_lost_points(b, say, arg);
	warn_losses(b, say, arg);
	if (all->tooshort && !r->latest) {
		char *name = casename_of(b->names, all->shortest->config);

		say_line(say, arg,
		    mem_printf(
			"%zu of %zu series %s too short to be examined: at "
			"least %d commits are needed (%s %s has %zu)",
			all->tooshort, all->series,
			all->tooshort == 1 ? "is" : "are", CHANGEPOINT_LEAST,
			name, all->shortest->metric, all->shortest_points));
		free(name);
	}
	if (all->others)
		say_line(say, arg,
		    mem_printf("%zu value%s of bytes_per_key left out: counted "
			       "and measured runs have other keys, and those "
			       "of the newest commit decide which are compared",
			all->others, num_plural((double)all->others)));
	if (b->reading && b->reading->mixed)
		say_line(say, arg,
		    mem_printf(
			"%zu summar%s of runs of several machines, which "
			"cannot be told apart: read the runs instead",
			b->reading->mixed,
			b->reading->mixed == 1 ? "y" : "ies"));
	if (all->absent)
		say_line(say, arg,
		    mem_printf("%zu series not measured at the newest commit",
			all->absent));
	for (size_t i = 0;
	     r->policy && (rule = policy_unused_rule(r->policy, i)); i++)
		say_line(say, arg, mem_printf("%s: matches nothing", rule));
}

enum { TITLE = 80 }; /* bytes of the title of a commit */

void
phrase_commit(struct str *s, const struct branch_point *p)
{
	str_add(s, "");
	if (!p->title && !p->time)
		return;
	str_add(s, " (");
	if (p->title)
		markup_cut(s, p->title, TITLE);
	str_add(s, p->title && p->time ? ", " : "");
	if (p->time)
		str_printf(s, "%.10s", p->time);
	str_addc(s, ')');
}

/* "5d54 (Rewrite the iterator, 2026-02-09), 37 of 60" */
static void
add_point(struct str *s, const struct branch *b, size_t at)
{
	str_add(s, b->points[at].name);
	phrase_commit(s, &b->points[at]);
	str_printf(s, ", %zu of %zu", at + 1, b->npoints);
}

void
phrase_place(
    struct str *s, const struct branch *b, const struct finding_group *g)
{
	size_t width = branch_count_suspects(b, g->lo, g->hi);
	const char *first = branch_first_suspect(b, g->lo);

	if (g->kind == FINDING_TREND) {
		str_printf(s, "slow %s from ",
		    g->way == FINDING_DIFFERENT ? "change"
						: finding_name_kind(g->way));
		add_point(s, b, g->at);
		str_add(s, " to ");
		add_point(s, b, g->hi);
		return;
	}
	str_printf(s, "%s at ", finding_name_kind(g->kind));
	add_point(s, b, g->at);
	if (width < 2)
		return;
	if (first) {
		char *brief = record_commit_brief(first, 8);

		str_printf(s, "; at any of %zu commits, %s to %s", width, brief,
		    b->points[g->hi].name);
		free(brief);
	} else
		str_printf(s, "; at any of %zu, %s to %s", width,
		    b->points[g->lo].name, b->points[g->hi].name);
}

static struct changetext
make_text(const struct finding *f)
{
	const struct verdict_facts *v = &f->facts;
	bool spike = f->kind == FINDING_SPIKE;

	return (struct changetext){.metric = f->metric.name,
	    .median = {v->median[0], v->median[1]},
	    .ratio = v->ratio,
	    .exact = true, /* the levels are known: "up from 0" */
	    .lo = spike ? NAN : v->lo95,
	    .hi = spike ? NAN : v->hi95};
}

void
phrase_named(struct str *s, const struct finding *f)
{
	struct changetext t = make_text(f);

	t.exact = !(t.ratio > 0) || f->metric.exact;
	changetext_named(s, &t);
}

void
phrase_change(struct str *s, const struct finding *f)
{
	const struct changetext t = make_text(f);

	changetext_interval(s, &t);
	if (f->kind == FINDING_TREND)
		str_printf(s, ", %+.2g%% per 10 commits", 1000 * f->pace);
}

void
phrase_sureness(struct str *s, const struct finding *f)
{
	if (isnan(f->probability))
		str_add(s, "-");
	else
		changetext_chance(s, f->probability);
}

void
phrase_standing(struct str *s, const struct branch *b, const struct finding *f)
{
	if (f->kind == FINDING_SPIKE)
		str_add(s,
		    f->at + f->n[1] < b->npoints
			? "went away"
			: "at the end: a spike or a new level");
	else if (!f->stands)
		str_printf(s, "reverted by %s", b->points[f->reverted].name);
	else if (f->outweighed)
		str_add(s, verdict_name_outweighed(f->metric.name, &f->facts));
	else if (finding_direction(f) != FINDING_REGRESSION)
		str_add(s, "");
	else if (f->waived)
		str_printf(s, "waived until %s: %s", f->waiver.expires,
		    f->waiver.reason);
	else if (!f->fresh)
		str_add(s, "known before");
	else
		str_add(s, "NEW");
	if (f->waiver.expired && finding_direction(f) == FINDING_REGRESSION)
		str_printf(s, ", waiver expired %s", f->waiver.expires);
	if (f->setup)
		str_printf(s, "%s%s", s->len ? ", " : "", f->setup);
	if (f->rebuilt)
		str_printf(s, "%sbuilt with another compiler or other flags",
		    s->len ? ", " : "");
	if (!f->gate)
		str_add(s, s->len ? ", info" : "info");
	str_add(s, f->nparts && s->len ? ", " : "");
	phrase_shown_by(s, b, f, PHRASE_MACHINES);
}

void
phrase_numbers(struct str *s, const struct finding *f, const char *to)
{
	char a[NUM_BUF], b[NUM_BUF];

	str_printf(s, "%s%s%s%s%s", num_human(a, f->facts.median[0]), to,
	    num_human(b, f->facts.median[1]), *f->metric.unit ? " " : "",
	    f->metric.unit);
}
