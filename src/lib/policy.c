#include "policy.h"
#include "casename.h"
#include "clock.h"
#include "config.h"
#include "err.h"
#include "inputs.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define POLICY_ROUNDING 1e-9 /* 1.1 - 1 is more than .1 */

struct rule {
	char *name;             /* "FILE: rules[2]" */
	const char *metric;     /* a glob; NULL: all; borrowed from 'doc' */
	const char *kase;       /* a glob of case names; borrowed */
	const struct json *has; /* keys the configuration must have; borrowed */
	struct policy_answer answer;
	bool used;
};

struct policy {
	struct json *doc;
	struct rule *rules;
	size_t n;
};

int
policy_parse_margin(const char *text, struct policy_answer *a)
{
	char sign = *text == '+' || *text == '-' ? *text++ : '\0';
	double v;

	if (!sign && strcmp(text, "auto") == 0) {
		a->margin = NAN;
		a->margin_auto = true;
		return 0;
	}
	if (*text == '+' || *text == '-' || num_percent(text, &v) < 0 ||
	    v < 0 || v > 1e6 || (sign != '+' && v >= 1))
		return -1;
	a->margin = sign == '+' ? v / (1 + v) : v;
	a->sign = sign;
	a->margin_auto = false;
	if (sign)
		a->better = sign == '+' ? METRIC_LOWER : METRIC_HIGHER;
	return 0;
}

/* Returns the index of the choice, or -1 after reporting that it is unknown. */
static int
read_choice(
    struct configwalk *w, const struct json *v, const char *const *words)
{
	const char *s = json_str(v);
	struct str all = {0};

	for (int i = 0; s && words[i]; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	for (int i = 0; words[i]; i++)
		str_printf(&all, "%s\"%s\"", i ? ", " : "", words[i]);
	configwalk_problem(w, "must be %s%s", words[1] ? "one of " : "", all.s);
	str_free(&all);
	return -1;
}

static bool
is_day(const char *s)
{
	struct clock_parts p;

	return clock_parse(&p, s) == 0 && p.precision == CLOCK_DAY;
}

/* Returns a text that is not blank, or NULL after reporting it. */
static const char *
read_text(struct configwalk *w, const struct json *v)
{
	const char *s = json_str(v);

	if (s && s[strspn(s, " \t\r\n")])
		return s;
	configwalk_problem(w, "must be a non-blank string");
	return NULL;
}

static void
read_metric(struct configwalk *w, struct rule *r, const struct json *v)
{
	r->metric = read_text(w, v);
}

static void
read_case(struct configwalk *w, struct rule *r, const struct json *v)
{
	if (json_type(v) == JSON_OBJECT && json_first(v))
		r->has = v;
	else if (json_type(v) == JSON_STRING)
		r->kase = read_text(w, v);
	else
		configwalk_problem(w,
		    "must be a pattern of case names, or an object with keys "
		    "of the configuration");
}

static void
read_margin(struct configwalk *w, struct rule *r, const struct json *v)
{
	const char *s = json_str(v);
	struct policy_answer a = r->answer;

	a.better = -1;
	if (!s || policy_parse_margin(s, &a) < 0) {
		configwalk_problem(w,
		    "must be a percentage like \"5%%\" (below 100%%), "
		    "\"+10%%\" "
		    "or \"-10%%\", or \"auto\"");
		return;
	}
	if (a.better >= 0 && r->answer.better >= 0 &&
	    a.better != r->answer.better)
		configwalk_problem(w, "its sign contradicts 'better'");
	if (a.better < 0)
		a.better = r->answer.better;
	r->answer = a;
}

static void
read_better(struct configwalk *w, struct rule *r, const struct json *v)
{
	const char *const words[] = {metric_better_name(METRIC_HIGHER),
	    metric_better_name(METRIC_LOWER),
	    metric_better_name(METRIC_NEITHER), NULL};
	int i = read_choice(w, v, words);

	if (i >= 0 && r->answer.better >= 0 && i != r->answer.better)
		configwalk_problem(w, "contradicts the sign of 'margin'");
	r->answer.better = i;
}

static void
read_class(struct configwalk *w, struct rule *r, const struct json *v)
{
	static const char *const words[] = {"info", "gate", "primary", NULL};
	int i = read_choice(w, v, words);

	r->answer.gate = i > 0 ? 1 : i;
	r->answer.primary = i == 2;
}

static void
read_assume(struct configwalk *w, struct rule *r, const struct json *v)
{
	static const char *const words[] = {"exact", NULL};

	if (read_choice(w, v, words) == 0)
		r->answer.exact = 1;
}

static void
read_reason(struct configwalk *w, struct rule *r, const struct json *v)
{
	r->answer.waiver.reason = read_text(w, v);
}

static void
read_expires(struct configwalk *w, struct rule *r, const struct json *v)
{
	const char *s = json_str(v);

	if (!s || !is_day(s))
		configwalk_problem(w, "must be a day like \"2026-12-31\"");
	else
		r->answer.waiver.expires = s;
}

static void
read_limit(struct configwalk *w, struct rule *r, const struct json *v)
{
	const char *s = json_str(v);
	double limit;

	if (!s || num_percent(s, &limit) < 0 || limit <= 0)
		configwalk_problem(w, "must be a percentage like \"10%%\"");
	else
		r->answer.waiver.limit = limit;
}

static void
read_session_sd(struct configwalk *w, struct rule *r, const struct json *v)
{
	const char *s = json_str(v);

	if (!s || num_percent(s, &r->answer.session_sd) < 0 ||
	    !(r->answer.session_sd >= 0 && r->answer.session_sd < 1))
		configwalk_problem(
		    w, "must be a percentage like \"2%%\", below 100%%");
}

static void
read_session_df(struct configwalk *w, struct rule *r, const struct json *v)
{
	r->answer.session_df = json_num(v, NAN);
	if (!(r->answer.session_df >= 1 && r->answer.session_df <= 1e6))
		configwalk_problem(w,
		    "must be degrees of freedom from 1 to 1000000: one less "
		    "than the sessions");
}

static void read_session(
    struct configwalk *, struct rule *, const struct json *);
static void read_waiver(
    struct configwalk *, struct rule *, const struct json *);

struct key {
	const char *name;
	void (*read)(struct configwalk *, struct rule *, const struct json *);
	bool required;
};

static const struct key rule_keys[] = {{"metric", read_metric, false},
    {"case", read_case, false}, {"margin", read_margin, false},
    {"better", read_better, false}, {"class", read_class, false},
    {"assume", read_assume, false}, {"session", read_session, false},
    {"waiver", read_waiver, false}, {0}};

static const struct key session_keys[] = {
    {"sd", read_session_sd, true}, {"df", read_session_df, true}, {0}};

static const struct key waiver_keys[] = {{"reason", read_reason, true},
    {"expires", read_expires, true}, {"limit", read_limit, false}, {0}};

static const struct key policy_keys[] = {{"rules", NULL, true}, {0}};

static void
report_unknown_key(
    struct configwalk *w, const char *name, const struct key *keys)
{
	const char *names[16] = {0};
	char hint[STR_HINT];

	for (size_t i = 0; keys[i].name; i++)
		names[i] = keys[i].name;
	configwalk_problem(w, "unknown key%s", str_hint(hint, name, names));
}

static void
read_object(struct configwalk *w, struct rule *r, const struct json *obj,
    const struct key *keys)
{
	const struct key *k;

	if (json_type(obj) != JSON_OBJECT) {
		configwalk_problem(w, "must be an object, but is of type %s",
		    json_type_name(json_type(obj)));
		return;
	}
	for (const struct json *j = json_first(obj); j; j = json_next(j)) {
		size_t len = configwalk_key(w, json_key(j));

		for (k = keys; k->name; k++)
			if (strcmp(k->name, json_key(j)) == 0)
				break;
		if (!k->name)
			report_unknown_key(w, json_key(j), keys);
		else if (k->read)
			k->read(w, r, j);
		configwalk_leave(w, len);
	}
	for (k = keys; k->name; k++)
		if (k->required && !json_get(obj, k->name))
			configwalk_problem(w, "lacks '%s'", k->name);
}

static void
read_session(struct configwalk *w, struct rule *r, const struct json *v)
{
	read_object(w, r, v, session_keys);
}

static void
read_waiver(struct configwalk *w, struct rule *r, const struct json *v)
{
	read_object(w, r, v, waiver_keys);
}

static bool
has_no_effect(const struct rule *r)
{
	const struct policy_answer *a = &r->answer;

	return isnan(a->margin) && !a->margin_auto && a->better < 0 &&
	    a->gate < 0 && a->exact < 0 && !(a->session_df > 0) &&
	    !a->waiver.reason;
}

static void
read_rule(struct configwalk *w, struct rule *r, const struct json *j)
{
	int before = w->problems;

	r->name = mem_printf("%s: %s", w->name, w->path.s);
	r->answer = POLICY_NO_ANSWER;
	r->answer.waiver.rule = r->name;
	r->answer.waiver.limit = INFINITY;
	read_object(w, r, j, rule_keys);
	if (w->problems == before && has_no_effect(r))
		configwalk_problem(w,
		    "has no effect: it lacks margin, better, class, assume, "
		    "session and waiver");
}

static void
read_rules(struct policy *p, struct configwalk *w, const struct json *rules)
{
	size_t len;

	if (json_type(rules) != JSON_ARRAY) {
		configwalk_problem(w, "must be an array, but is of type %s",
		    json_type_name(json_type(rules)));
		return;
	}
	p->rules = mem_array(json_len(rules) + 1, sizeof *p->rules);
	for (const struct json *j = json_first(rules); j; j = json_next(j)) {
		len = configwalk_index(w, p->n);
		read_rule(w, &p->rules[p->n++], j);
		configwalk_leave(w, len);
	}
}

struct policy *
policy_new(struct json *doc, const char *name)
{
	struct policy *p = mem_new(sizeof *p);
	struct configwalk w = {.name = name};

	p->doc = doc;
	str_add(&w.path, "policy");
	read_object(&w, NULL, doc, policy_keys);
	str_clear(&w.path);
	str_add(&w.path, "rules");
	if (json_get(doc, "rules"))
		read_rules(p, &w, json_get(doc, "rules"));
	str_free(&w.path);
	if (!w.problems)
		return p;
	policy_free(p);
	return NULL;
}

struct policy *
policy_read(const char *file)
{
	struct json *doc = jsonfile_read(file);

	return doc ? policy_new(doc, inputs_name(file)) : NULL;
}

void
policy_free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		free(p->rules[i].name);
	free(p->rules);
	json_free(p->doc);
	free(p);
}

/* What a rule says of a metric holds for its ratio to a reference, too. */
static bool
matches_metric(const char *pattern, const char *metric)
{
	bool own = casename_matches(pattern, metric);
	bool base = casename_matches(pattern, metric_base(metric));

	return *pattern == '!' ? own && base : own || base;
}

static bool
matches_rule(const struct rule *r, const struct json *config, const char *name,
    const char *metric)
{
	if ((r->metric && !matches_metric(r->metric, metric)) ||
	    (r->kase && !casename_matches(r->kase, name)))
		return false;
	for (const struct json *j = json_first(r->has); j; j = json_next(j))
		if (!json_equal(j, json_get(config, json_key(j))))
			return false;
	return true;
}

/* Overrides what the rule contains. The sign of an earlier margin says which
 * direction is worse, so a later 'better' that contradicts it removes it. */
static void
override_answer(struct policy_answer *a, const struct policy_answer *from)
{
	if (from->better >= 0 && from->better != a->better) {
		a->better = from->better;
		a->sign = '\0';
	}
	if (!isnan(from->margin) || from->margin_auto) {
		a->margin = from->margin;
		a->sign = from->sign;
		a->margin_auto = from->margin_auto;
	}
	if (from->gate >= 0) {
		a->gate = from->gate;
		a->primary = from->primary;
	}
	if (from->exact >= 0)
		a->exact = from->exact;
	if (from->session_df > 0) {
		a->session_sd = from->session_sd;
		a->session_df = from->session_df;
	}
	if (from->waiver.reason)
		a->waiver = from->waiver;
}

void
policy_find_answer(struct policy *p, const struct json *config,
    const char *name, const char *metric, const char *today,
    struct policy_answer *a)
{
	*a = POLICY_NO_ANSWER;
	for (size_t i = 0; p && i < p->n; i++)
		if (matches_rule(&p->rules[i], config, name, metric)) {
			p->rules[i].used = true;
			override_answer(a, &p->rules[i].answer);
		}
	if (a->waiver.reason)
		a->waiver.expired = strcmp(today, a->waiver.expires) > 0;
}

bool
policy_waives(const struct policy_waiver *w, double ratio)
{
	return w->reason && !w->expired &&
	    (isinf(w->limit) ||
		fabs(ratio - 1) <= w->limit * (1 + POLICY_ROUNDING));
}

struct json *
policy_describe_waiver(const struct policy_waiver *w)
{
	struct json *j = json_object();

	json_set_str(j, "rule", w->rule);
	json_set_str(j, "reason", w->reason);
	json_set_str(j, "expires", w->expires);
	return j;
}

const char *
policy_unused_rule(const struct policy *p, size_t i)
{
	for (size_t k = 0; k < p->n; k++)
		if (!p->rules[k].used && i-- == 0)
			return p->rules[k].name;
	return NULL;
}
