#include "report.h"
#include "brief.h"
#include "infer.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

static struct json *
make_numbers(const struct sample *s)
{
	struct json *j = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_push_num(j, s->v[i]);
	return j;
}

static void
append_record(struct str *s, struct json *rec)
{
	json_append_line(s, rec);
	json_free(rec);
}

static void
set_interval(struct json *rec, const char *key, double lo, double hi)
{
	if (!isnan(lo))
		json_set(rec, key, json_pair(lo, hi));
}

static void
set_notes(struct json *rec, const struct row *r)
{
	struct json *a = json_array();
	struct str s = {0};

	report_notes(&s, r);
	if (s.len)
		json_push(a, json_string(s.s));
	if (r->pair->note)
		json_push(a, json_string(r->pair->note));
	json_set_filled(rec, "notes", a);
	str_free(&s);
}

static void
set_text(struct json *rec, const char *key, struct str *s)
{
	json_set_str(rec, key, s->len ? s->s : NULL);
	str_clear(s);
}

static struct json *
make_rest(const struct row *r)
{
	struct verdict_facts f = infer_rest(r, false);
	struct json *j = json_object();

	json_set_num(j, "ratio", f.ratio);
	set_interval(j, "ci95", f.lo95, f.hi95);
	json_set_num(j, "se", f.se);
	json_set_num(j, "df", f.df);
	return j;
}

static struct json *
make_slow(const struct rare *of)
{
	struct json *j = json_object();

	json_set_num(j, "above_ms", of->above_ms);
	json_set(j, "shares", json_pair(of->share[0], of->share[1]));
	return j;
}

/* 'decides' is the case if this row decides its answer, or NULL. */
static struct json *
make_delta(const struct comparison *c, const struct row *r,
    const struct brief_case *decides)
{
	const struct verdict_facts *f = &r->facts;
	struct json *rec = record_new("delta"), *values = json_array(), *needed;
	struct str text = {0};

	json_set(rec, "config", json_dup(cases_config(r->pair->side[0])));
	json_set(rec, "baseline", json_dup(c->subject[0]));
	json_set(rec, "contender", json_dup(c->subject[1]));
	json_set_str(rec, "metric", r->name);
	json_set_str(rec, "better", metric_better_name(r->metric->better));
	json_set(rec, "n", json_pair((double)f->m, (double)f->n));
	json_push(values, make_numbers(r->used[0]));
	json_push(values, make_numbers(r->used[1]));
	json_set(rec, "values", values);
	json_set(rec, "median", json_pair(f->median[0], f->median[1]));
	json_set_num(rec, "ratio", f->ratio);
	set_interval(rec, "ci95", f->lo95, f->hi95);
	set_interval(rec, "ci90", f->lo90, f->hi90);
	json_set_num(rec, "probability", f->p);
	json_set_num(rec, "se", f->se);
	json_set_num(rec, "df", f->df);
	json_set_str(rec, "method", f->method);
	json_set_bool(rec, "paired", f->paired);
	json_set_num(rec, "margin", r->margin);
	json_set_str(rec, "margin_from", r->margin_from);
	json_set_str(rec, "class", r->gate ? "gate" : "info");
	if (r->primary && !r->common)
		json_set_bool(rec, "primary", true);
	if (r->common)
		json_set_bool(rec, "common", true);
	if (r->has_rest)
		json_set(rec, "rest", make_rest(r));
	if (r->rare)
		json_set(rec, "slow", make_slow(r->rare));
	json_set_str(rec, "verdict", verdict_name(r->verdict));
	if (r->verdict == VERDICT_INCONCLUSIVE) {
		report_reason(&text, r);
		set_text(rec, "reason", &text);
	}
	if (decides)
		brief_write_answer(&text, decides);
	set_text(rec, "answer", &text);
	str_free(&text);
	if (r->noise)
		json_set_bool(rec, "noise", true);
	if (r->outweighed)
		json_set_bool(rec, "outweighed", true);
	json_set_num(rec, "visible", report_find_visible(r));
	if (r->needed) {
		needed = json_object();
		json_set_num(needed, "runs", (double)r->needed);
		json_set_num(needed, "minutes", r->minutes);
		json_set(rec, "needed", needed);
	}
	if (r->waived)
		json_set(rec, "waiver", policy_describe_waiver(&r->waiver));
	set_notes(rec, r);
	if (report_has_together(r))
		json_set_str(rec, "together", r->pair->together);
	json_set_str(rec, "functions", report_functions(r));
	return rec;
}

static struct json *
make_lost_case(const struct kase *k, size_t side)
{
	struct json *j = json_object();

	json_set_str(j, "side", side ? "contender" : "baseline");
	json_set(j, "config", json_dup(cases_config(k)));
	json_set_num(j, "n", cases_sum(k, "n"));
	json_set_num(j, "failed", cases_sum(k, "failed"));
	json_set_filled(j, "errors", cases_errors(k));
	return j;
}

static void
set_rule_issues(struct json *rec, const struct comparison *c)
{
	struct json *all = json_array();

	for (size_t i = 0; i < c->nrule_issues; i++) {
		const struct rule_issue *l = &c->rule_issues[i];
		struct json *j = json_object();

		json_set_str(j, "rule", l->rule);
		json_set_str(j, "what", l->what);
		json_set_str(j, "reason", l->reason);
		json_set_str(j, "expires", l->expires);
		json_push(all, j);
	}
	json_set_filled(rec, "waivers", all);
}

static void
set_canaries(
    struct json *rec, const struct comparison *c, const struct rules *r)
{
	struct json *all = json_array();

	for (size_t i = 0; i < c->ncanaries; i++) {
		const struct canary *k = &c->canaries[i];
		struct json *j = json_object();

		json_set_str(j, "case", k->name);
		json_set_str(j, "metric", k->metric);
		json_set_str(j, "against", r->history ? "history" : "baseline");
		json_set_str(j, "verdict", verdict_name(k->verdict));
		json_set_num(j, "ratio", k->facts.ratio);
		json_set_bool(j, "ok", k->ok);
		json_push(all, j);
	}
	json_set_filled(rec, "canary", all);
}

/* Sets the texts of other formats, for vkb-compare --deltas and vkb-report. */
static void
set_texts(struct json *rec, const struct comparison *c, const struct brief *b,
    const struct report *r)
{
	struct str s = {0};

	report_same_server(&s, c);
	set_text(rec, "same_server", &s);
	report_headline(&s, c);
	set_text(rec, "headline", &s);
	report_outlook(&s, c);
	set_text(rec, "outlook", &s);
	brief_add_next(&s, b, r);
	set_text(rec, "next", &s);
	report_method(&s, c, r->rules);
	set_text(rec, "method", &s);
	json_set(rec, "warnings", warnings_describe(&c->warnings));
	str_free(&s);
}

/* What the rows of each metric have in common. */
static void
set_metrics(struct json *rec, const struct comparison *c)
{
	struct json *all = json_object();

	for (size_t i = 0; i < c->nmetrics; i++) {
		const struct metric_facts *m = &c->metrics[i];
		struct json *j = json_object();

		json_set_num(j, "session_sd", m->model.session_sd);
		if (m->model.known)
			json_set_bool(j, "measured", true);
		if (m->model.rho > 0)
			json_set_num(j, "serial", m->model.rho);
		if (m->step > 0)
			json_set_num(j, "step", m->step);
		json_set_num(j, "machine", exp(m->model.machine));
		json_set_num(j, "unchanged", m->model.unchanged);
		json_set(all, m->name, j);
	}
	json_set_filled(rec, "metrics", all);
}

/* The comparison record: cases not compared, environments, counts. */
static struct json *
make_comparison(const struct comparison *c, const struct brief *b,
    const struct report *report)
{
	const struct rules *r = report->rules;
	struct json *rec = record_new("comparison"), *counts = json_object();
	struct json *unmatched = json_array(), *failed = json_array();
	struct json *env = json_array(), *overall = json_object();
	struct json *one_sided = json_array();

	json_set(rec, "baseline", json_dup(c->subject[0]));
	json_set(rec, "contender", json_dup(c->subject[1]));
	json_set_num(rec, "cases", (double)c->matched);
	for (size_t i = 0; i < VERDICTS; i++)
		if (c->count[i])
			json_set_num(counts, verdict_name((enum verdict)i),
			    (double)c->count[i]);
	if (c->waived)
		json_set_num(counts, "waived", (double)c->waived);
	json_set(rec, "verdicts", counts);
	json_set_str(rec, "claims", r->strict ? "strict" : "fdr");
	json_set_num(rec, "rows", (double)c->claims);
	set_metrics(rec, c);
	if (c->sessions[0])
		json_set(rec, "sessions",
		    json_pair((double)c->sessions[0], (double)c->sessions[1]));
	if (c->assumed) {
		json_set_num(rec, "session_sd", c->assumed->prior.session_sd);
		json_set_str(rec, "session_from", c->assumed->from);
	}
	for (size_t i = 0; i < c->noverall; i++) {
		const struct overall *o = &c->overall[i];
		struct json *j = json_object();

		json_set_num(j, "cases", (double)o->cases);
		json_set_num(j, "ratio", o->ratio);
		set_interval(j, "ci95", o->lo, o->hi);
		json_set(overall, o->name, j);
	}
	json_set(rec, "overall", overall);
	for (size_t i = 0; i < c->npairs; i++)
		for (size_t k = 0; k < 2; k++) {
			const struct kase *side = c->pairs[i].side[k];

			if (side && cases_sum(side, "failed") > 0)
				json_push(failed, make_lost_case(side, k));
			else if (side && !c->pairs[i].side[!k])
				json_push(unmatched, make_lost_case(side, k));
		}
	json_set(rec, "unmatched", unmatched);
	json_set(rec, "failed", failed);
	for (size_t i = 0; i < c->ndifferences; i++) {
		const struct difference *d = &c->differences[i];
		struct json *j = json_object();

		json_set_str(j, "name", d->name);
		json_set_str(j, "baseline", d->values[0]);
		json_set_str(j, "contender", d->values[1]);
		json_set_num(j, "cases", (double)d->cases);
		json_push(env, j);
	}
	json_set(rec, "env", env);
	for (size_t i = 0; i < c->one_sided_count; i++) {
		const struct one_sided_gate *l = &c->one_sided[i];
		struct json *j = json_object();

		json_set_str(j, "side", l->side ? "contender" : "baseline");
		json_set_str(j, "metric", l->name);
		json_set_num(j, "cases", (double)l->cases);
		json_push(one_sided, j);
	}
	json_set(rec, "one_sided", one_sided);
	set_rule_issues(rec, c);
	set_canaries(rec, c, r);
	set_texts(rec, c, b, report);
	return rec;
}

static struct json *
make_shift(const struct comparison *c, const struct shift *shift)
{
	struct json *rec = record_new("shift"), *all = json_array();
	struct json *ks = json_object();

	json_set(rec, "config", json_dup(cases_config(shift->pair->side[0])));
	json_set(rec, "baseline", json_dup(c->subject[0]));
	json_set(rec, "contender", json_dup(c->subject[1]));
	json_set_str(rec, "hist", shift->hist);
	for (size_t i = 0; i < shift->n; i++) {
		const struct shift_line *l = &shift->v[i];
		struct json *j = json_object();

		json_set_num(j, "percentile", l->percentile);
		json_set_num(j, "baseline", l->value[0]);
		json_set_num(j, "contender", l->value[1]);
		json_set_num(j, "ratio", l->ratio);
		set_interval(j, "ci95", l->lo, l->hi);
		json_push(all, j);
	}
	json_set(rec, "quantiles", all);
	json_set_num(ks, "d", shift->diff.d);
	json_set_num(ks, "at", (double)shift->diff.at);
	json_set_num(ks, "w1", shift->diff.w1);
	json_set(rec, "ks", ks);
	return rec;
}

/* Returns for each row the case whose answer it decides, or NULL. Caller frees
 * with free(). */
static const struct brief_case **
list_answers(const struct comparison *c, const struct brief *b)
{
	const struct brief_case **v = mem_array(c->nrows + 1, sizeof *v);

	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].worst)
			v[b->v[i].worst - c->rows] = &b->v[i];
	return v;
}

static void
append_comparison(struct str *s, const struct report *r, size_t which)
{
	const struct comparison *c = &r->c[which];
	const struct shifts *shifts = &c->shifts;
	struct brief b = brief_collect(c);
	const struct brief_case **answers = list_answers(c, &b);

	for (size_t k = 0; k < c->nrows; k++)
		append_record(s, make_delta(c, &c->rows[k], answers[k]));
	for (size_t k = 0; k < shifts->n; k++)
		append_record(s, make_shift(c, &shifts->v[k]));
	append_record(s, make_comparison(c, &b, r));
	free(answers);
	free(b.v);
}

void
report_jsonl(struct str *s, const struct report *r)
{
	for (size_t i = 0; i < r->n; i++)
		append_comparison(s, r, i);
}
