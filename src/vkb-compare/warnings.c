#include "report.h"
#include "builds.h"
#include "busy.h"
#include "history.h"
#include "json.h"
#include "num.h"
#include "mem.h"
#include "record.h"
#include "sample.h"
#include "intern.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define LISTED 20 /* lines of one kind; JSON lines have all */

/* Takes the text. */
static void
add_warning(struct warnings *w, enum report_kind kind, char *text)
{
	w->v = mem_grow(w->v, w->n, &w->cap, sizeof *w->v);
	w->v[w->n++] = (struct warning){kind, text};
}

static const char *const side_names[] = {"baseline", "contender"};

void
report_lost_case(struct str *s, const struct pairing *p, size_t side)
{
	const struct kase *k = p->side[side];
	double failed = cases_sum(k, "failed");
	struct json *errors;
	const char *e;

	if (!(failed > 0)) {
		str_printf(
		    s, "only in the %s: %s", side_names[side], p->name[side]);
		return;
	}
	errors = cases_errors(k);
	e = json_str(json_first(errors));
	str_printf(s, "%.0f of %.0f runs failed in the %s: %s", failed,
	    failed + cases_sum(k, "n"), side_names[side], p->name[side]);
	if (e) {
		str_add(s, ": ");
		record_add_error(s, e);
	}
	json_free(errors);
}

void
report_one_sided(struct str *s, const struct one_sided_gate *l)
{
	str_printf(s, "only the %s has ", side_names[l->side]);
	metric_write_label(s, l->name);
	str_printf(s, " (%zu case%s)", l->cases, num_plural(l->cases));
}

/* A failed run of the baseline is a note: its other runs are compared. */
static enum report_kind
classify_loss(const struct kase *k, size_t side)
{
	if (!(cases_sum(k, "failed") > 0))
		return REPORT_UNMATCHED;
	return side ? REPORT_FAILED : REPORT_NOTE;
}

static void
warn_lost_cases(struct warnings *w, const struct comparison *c)
{
	size_t listed = 0;

	for (size_t i = 0; i < c->npairs; i++)
		for (size_t j = 0; j < 2; j++) {
			const struct pairing *p = &c->pairs[i];
			const struct kase *k = p->side[j];
			struct str s = {0};

			if (!k ||
			    (p->side[!j] && !(cases_sum(k, "failed") > 0)) ||
			    listed++ >= LISTED)
				continue;
			report_lost_case(&s, p, j);
			add_warning(w, classify_loss(k, j), str_take(&s));
		}
	if (listed > LISTED)
		add_warning(w, REPORT_UNMATCHED,
		    mem_printf("%zu more case%s failed or on one side only",
			listed - LISTED, num_plural(listed - LISTED)));
}

/* Cases with the same note share a line. */
static void
warn_unsure_pairs(struct warnings *w, const struct comparison *c)
{
	struct intern *notes = intern_new();
	size_t *count = mem_array(c->npairs + 1, sizeof *count);

	for (size_t i = 0; i < c->npairs; i++)
		if (c->pairs[i].note)
			count[intern_id(notes, c->pairs[i].note)]++;
	for (size_t i = 0; i < c->npairs; i++) {
		const char *note = c->pairs[i].note;
		const char *name = c->pairs[i].name[0];
		size_t id = note ? intern_id(notes, note) : 0, n = count[id];

		if (!note || !n)
			continue;
		count[id] = 0; /* the first case of this note */
		add_warning(w, REPORT_NOTE,
		    n == 1
			? mem_printf("%s: %s", name, note)
			: mem_printf("%s and %zu more: %s", name, n - 1, note));
	}
	intern_free(notes);
	free(count);
}

static void
warn_doubled(struct warnings *w, const struct comparison *c)
{
	for (size_t j = 0; j < 2; j++) {
		double n = 0;

		for (size_t i = 0; i < c->npairs; i++)
			if (c->pairs[i].side[j])
				n += cases_doubled(c->pairs[i].side[j]);
		if (n > 0)
			add_warning(w, REPORT_NOTE,
			    mem_printf("%.0f run%s given twice in the %s: "
				       "counted once",
				n, num_plural(n), side_names[j]));
	}
}

static void
warn_canaries(struct warnings *w, const struct comparison *c)
{
	for (size_t i = 0; i < c->ncanaries; i++) {
		const struct canary *k = &c->canaries[i];
		const char *what = "changed";

		if (k->ok)
			continue;
		if (!k->metric)
			what = "is missing";
		else if (k->verdict == VERDICT_INSUFFICIENT)
			what = "has too few runs";
		add_warning(w, REPORT_FAILED,
		    mem_printf("canary %s: %s %s: nothing here can be relied "
			       "on",
			k->name, k->metric ? k->metric : "it", what));
	}
}

static void
warn_rule_issues(struct warnings *w, const struct comparison *c)
{
	for (size_t i = 0; i < c->nrule_issues; i++) {
		const struct rule_issue *l = &c->rule_issues[i];
		struct str s = {0};

		str_add(&s, l->rule);
		if (!l->reason)
			str_add(&s, " matches nothing here");
		else if (strcmp(l->what, "expired") == 0)
			str_printf(&s, ": the waiver expired on %s: %s",
			    l->expires, l->reason);
		else
			str_printf(&s, ": %s: %s",
			    strcmp(l->what, "exceeded") == 0
				? "the regression exceeds its waiver"
				: "there is nothing to waive",
			    l->reason);
		add_warning(w, REPORT_NOTE, str_take(&s));
	}
}

static void
warn_differences(struct warnings *w, const struct comparison *c)
{
	for (size_t i = 0; i < c->ndifferences && i < LISTED; i++) {
		const struct difference *d = &c->differences[i];

		add_warning(w, REPORT_ENV,
		    mem_printf("environment differs: %s: %s -> %s (%zu "
			       "case%s)",
			d->name, d->values[0], d->values[1], d->cases,
			num_plural(d->cases)));
	}
	if (c->ndifferences > LISTED)
		add_warning(w, REPORT_ENV,
		    mem_printf("environment differs: %zu more",
			c->ndifferences - LISTED));
}

/* Warns if the builds were made in different ways, which changes counts, or
 * modules ran in different servers. */
static void
warn_builds(struct warnings *w, const struct comparison *c)
{
	char *what;
	size_t exact = 0;
	bool judged;

	for (size_t i = 0; i < c->nrows; i++)
		exact += c->rows[i].metric->exact;
	what = exact ? builds_describe_difference(c->subject[0], c->subject[1])
		     : NULL;
	judged = builds_are_comparable(c->subject[0], c->subject[1]);
	if (what)
		add_warning(w, REPORT_ENV,
		    mem_printf("the builds were made in different ways, which "
			       "changes counts%s: %s",
			judged ? "" : ", so they are not judged", what));
	free(what);
	if (builds_have_other_servers(c->subject[0], c->subject[1]))
		add_warning(w, REPORT_ENV,
		    mem_str("the commits of the module ran in different "
			    "servers, so a change may come from the server"));
}

static void
warn_busy(struct warnings *w, const struct comparison *c)
{
	double percent[2];
	size_t n = busy_find(c, percent);

	if (n)
		add_warning(w, REPORT_ENV,
		    mem_printf("other processes used %.0f%% of the CPU "
			       "during the baseline and %.0f%% during the "
			       "contender: the interval is wider (%zu case%s)",
			percent[0], percent[1], n, num_plural(n)));
}

static void
warn_references(struct warnings *w, const struct comparison *c)
{
	struct str s = {0};

	reference_warn(&s, c);
	if (s.len)
		add_warning(w, REPORT_ENV, str_take(&s));
	str_free(&s);
}

static void
warn_unreached(struct warnings *w, const struct comparison *c)
{
	static const char *const sides[] = {"the baseline", "the contender"};
	const struct pairing *last = NULL;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct pairing *p = c->rows[i].pair;
		struct str s = {0};

		if (p == last || !c->rows[i].unreached)
			continue;
		last = p;
		for (size_t j = 0; j < 2; j++) {
			double percent = sample_median(
			    cases_runs(p->side[j], "achieved_percent"));

			if (!isnan(percent))
				str_printf(&s, "%s%.3g%%%s by %s",
				    s.len ? " and " : "", percent,
				    s.len ? "" : " of it was answered",
				    sides[j]);
		}
		add_warning(w, REPORT_NOTE,
		    mem_printf("%s: the rate was not reached: %s, so latencies "
			       "are not judged",
			p->name[0], s.s));
		str_free(&s);
	}
}

static void
warn_client_bound(struct warnings *w, const struct comparison *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->npairs; i++) {
		const struct pairing *p = &c->pairs[i];

		n += p->side[0] && p->side[1] &&
		    (cases_client_bound(p->side[0]) > 0 ||
			cases_client_bound(p->side[1]) > 0);
	}
	if (n)
		add_warning(w, REPORT_NOTE,
		    mem_printf("the client was the bottleneck in %zu case%s", n,
			num_plural(n)));
}

static const char *const kind_names[] = {
    [REPORT_FAILED] = "failed",
    [REPORT_UNMATCHED] = "unmatched",
    [REPORT_ENV] = "environment",
    [REPORT_NOTE] = "note",
};

struct json *
warnings_describe(const struct warnings *w)
{
	struct json *all = json_array();

	for (size_t i = 0; i < w->n; i++) {
		struct json *one = json_object();

		json_set_str(one, "kind", kind_names[w->v[i].kind]);
		json_set_str(one, "text", w->v[i].text);
		json_push(all, one);
	}
	return all;
}

/* Copies the warnings of a comparison record. Unknown kinds are notes. */
static void
copy_recorded(struct warnings *w, const struct json *record)
{
	const struct json *j = json_first(json_get(record, "warnings"));

	for (; j; j = json_next(j)) {
		const char *kind = json_get_str(j, "kind");
		const char *text = json_get_str(j, "text");
		size_t i = 0;

		while (i < REPORT_NOTE &&
		    !(kind && strcmp(kind, kind_names[i]) == 0))
			i++;
		if (text)
			add_warning(w, (enum report_kind)i, mem_str(text));
	}
}

void
warnings_new(struct comparison *c)
{
	struct warnings *w = &c->warnings;

	if (c->record) {
		copy_recorded(w, c->record);
		return;
	}
	warn_canaries(w, c);
	warn_differences(w, c);
	warn_builds(w, c);
	warn_busy(w, c);
	warn_references(w, c);
	warn_unreached(w, c);
	warn_lost_cases(w, c);
	for (size_t i = 0; i < c->one_sided_count; i++) {
		struct str s = {0};

		report_one_sided(&s, &c->one_sided[i]);
		add_warning(w, REPORT_UNMATCHED, str_take(&s));
	}
	warn_unsure_pairs(w, c);
	warn_doubled(w, c);
	if (c->short_history)
		add_warning(w, REPORT_NOTE,
		    mem_printf("%zu result%s: the history is too short for a "
			       "margin (%d changes are needed)",
			c->short_history, num_plural(c->short_history),
			HISTORY_LEAST));
	warn_rule_issues(w, c);
	warn_client_bound(w, c);
}

void
warnings_free(struct warnings *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i].text);
	free(w->v);
}
