#include "report.h"
#include "casename.h"
#include "history.h"
#include "json.h"
#include "num.h"
#include "mem.h"
#include "intern.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define LISTED 20 /* lines of one kind; JSON lines have all */

static void
send_line(report_line *say, void *arg, enum report_kind kind, struct str *s)
{
	say(arg, kind, s->s);
	str_clear(s);
}

static const char *const side_names[] = {"baseline", "contender"};

void
report_lost(struct str *s, const struct kase *k, size_t side, const char *name)
{
	double failed = cases_sum(k, "failed");
	struct json *errors;
	const char *e;

	if (!(failed > 0)) {
		str_printf(s, "only in the %s: %s", side_names[side], name);
		return;
	}
	errors = cases_errors(k);
	e = json_str(json_first(errors));
	str_printf(s, "%.0f of %.0f runs failed in the %s: %s", failed,
	    failed + cases_sum(k, "n"), side_names[side], name);
	if (e)
		str_printf(s, ": %s", e);
	json_free(errors);
}

void
report_one_sided(struct str *s, const struct one_sided_gate *l)
{
	str_printf(s, "only the %s has %s (%zu case%s)", side_names[l->side],
	    l->name, l->cases, num_plural(l->cases));
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
warn_lost_cases(const struct comparison *c, const struct casename *names,
    report_line *say, void *arg)
{
	struct str s = {0};
	size_t more = 0, listed = 0;

	for (size_t i = 0; i < c->npairs; i++)
		for (size_t j = 0; j < 2; j++) {
			const struct kase *k = c->pairs[i].side[j];
			char *name;

			if (!k ||
			    (c->pairs[i].side[!j] &&
				!(cases_sum(k, "failed") > 0)))
				continue;
			if (listed++ >= LISTED) {
				more++;
				continue;
			}
			name = casename_of(names, k->config);
			report_lost(&s, k, j, name);
			send_line(say, arg, classify_loss(k, j), &s);
			free(name);
		}
	if (more) {
		str_printf(&s, "%zu more case%s failed or on one side only",
		    more, num_plural(more));
		send_line(say, arg, REPORT_UNMATCHED, &s);
	}
	str_free(&s);
}

/* Cases with the same note share a line. */
static void
warn_unsure_pairs(const struct comparison *c, const struct casename *names,
    report_line *say, void *arg)
{
	struct intern *notes = intern_new();
	size_t *count = mem_array(c->npairs + 1, sizeof *count);
	struct str s = {0};

	for (size_t i = 0; i < c->npairs; i++)
		if (c->pairs[i].note)
			count[intern_id(notes, c->pairs[i].note)]++;
	for (size_t i = 0; i < c->npairs; i++) {
		const char *note = c->pairs[i].note;
		size_t id = note ? intern_id(notes, note) : 0, n = count[id];
		char *name;

		if (!note || !n)
			continue;
		count[id] = 0; /* it is written now */
		name = casename_of(names, c->pairs[i].side[0]->config);
		if (n == 1)
			str_printf(&s, "%s: %s", name, note);
		else
			str_printf(
			    &s, "%s and %zu more: %s", name, n - 1, note);
		send_line(say, arg, REPORT_NOTE, &s);
		free(name);
	}
	intern_free(notes);
	free(count);
	str_free(&s);
}

static void
warn_doubled(const struct comparison *c, report_line *say, void *arg)
{
	struct str s = {0};

	for (size_t j = 0; j < 2; j++) {
		double n = 0;

		for (size_t i = 0; i < c->npairs; i++)
			if (c->pairs[i].side[j])
				n += cases_doubled(c->pairs[i].side[j]);
		if (!(n > 0))
			continue;
		str_printf(&s, "%.0f run%s given twice in the %s: counted once",
		    n, num_plural(n), side_names[j]);
		send_line(say, arg, REPORT_NOTE, &s);
	}
	str_free(&s);
}

static void
warn_canaries(const struct comparison *c, report_line *say, void *arg)
{
	struct str s = {0};

	for (size_t i = 0; i < c->ncanaries; i++) {
		const struct canary *k = &c->canaries[i];

		if (k->ok)
			continue;
		str_printf(&s,
		    "canary %s: %s %s: nothing here can be relied on", k->name,
		    k->metric ? k->metric : "it",
		    !k->metric ? "is missing"
			: k->verdict == VERDICT_INSUFFICIENT
			? "has too few runs"
			: "changed");
		send_line(say, arg, REPORT_FAILED, &s);
	}
	str_free(&s);
}

static void
warn_lapses(const struct comparison *c, report_line *say, void *arg)
{
	struct str s = {0};

	for (size_t i = 0; i < c->nlapses; i++) {
		const struct lapse *l = &c->lapses[i];

		if (!l->reason)
			str_printf(&s, "%s matches nothing here", l->rule);
		else if (strcmp(l->what, "expired") == 0)
			str_printf(&s, "%s: the waiver expired on %s: %s",
			    l->rule, l->expires, l->reason);
		else if (strcmp(l->what, "exceeded") == 0)
			str_printf(&s,
			    "%s: the regression exceeds its waiver: "
			    "%s",
			    l->rule, l->reason);
		else
			str_printf(&s, "%s: there is nothing to waive: %s",
			    l->rule, l->reason);
		send_line(say, arg, REPORT_NOTE, &s);
	}
	str_free(&s);
}

static const char *const kind_names[] = {
    [REPORT_FAILED] = "failed",
    [REPORT_UNMATCHED] = "unmatched",
    [REPORT_ENV] = "environment",
    [REPORT_NOTE] = "note",
};

static void
add_warning(void *arg, enum report_kind kind, const char *text)
{
	struct json *one = json_object();

	json_set_str(one, "kind", kind_names[kind]);
	json_set_str(one, "text", text);
	json_push(arg, one);
}

struct json *
report_warnings_json(const struct comparison *c, const struct casename *names)
{
	struct json *all = json_array();

	report_warnings(c, names, add_warning, all);
	return all;
}

/* Sends the warnings of a comparison record. Unknown kinds are notes. */
static void
send_recorded(const struct json *record, report_line *say, void *arg)
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
			say(arg, (enum report_kind)i, text);
	}
}

void
report_warnings(const struct comparison *c, const struct casename *names,
    report_line *say, void *arg)
{
	struct str s = {0};
	size_t client = 0;

	if (c->record) {
		send_recorded(c->record, say, arg);
		return;
	}
	warn_canaries(c, say, arg);
	for (size_t i = 0; i < c->ndifferences; i++) {
		const struct difference *d = &c->differences[i];

		if (i == LISTED) {
			str_printf(&s, "environment differs: %zu more",
			    c->ndifferences - i);
			send_line(say, arg, REPORT_ENV, &s);
			break;
		}
		str_printf(&s, "environment differs: %s: %s -> %s (%zu case%s)",
		    d->name, d->values[0], d->values[1], d->cases,
		    num_plural(d->cases));
		send_line(say, arg, REPORT_ENV, &s);
	}
	warn_lost_cases(c, names, say, arg);
	for (size_t i = 0; i < c->one_sided_count; i++) {
		report_one_sided(&s, &c->one_sided[i]);
		send_line(say, arg, REPORT_UNMATCHED, &s);
	}
	warn_unsure_pairs(c, names, say, arg);
	warn_doubled(c, say, arg);
	if (c->short_history) {
		str_printf(&s,
		    "%zu result%s: the history is too short for a margin (%d "
		    "changes are needed)",
		    c->short_history, num_plural(c->short_history),
		    HISTORY_LEAST);
		send_line(say, arg, REPORT_NOTE, &s);
	}
	warn_lapses(c, say, arg);
	for (size_t i = 0; i < c->npairs; i++) {
		const struct pairing *p = &c->pairs[i];

		client += p->side[0] && p->side[1] &&
		    (cases_bound(p->side[0], "client") > 0 ||
			cases_bound(p->side[1], "client") > 0);
	}
	if (client) {
		str_printf(&s,
		    "client-bound: %zu case%s measured the load client more "
		    "than the server",
		    client, num_plural(client));
		send_line(say, arg, REPORT_NOTE, &s);
	}
	str_free(&s);
}
