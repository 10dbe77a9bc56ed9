#include "judge.h"
#include "busy.h"
#include "casename.h"
#include "functions.h"
#include "history.h"
#include "infer.h"
#include "json.h"
#include "mem.h"
#include "part.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool
all_failed(const struct kase *k)
{
	return k && cases_sum(k, "n") == 0;
}

/* Takes the margin of the history if it is wider. */
static void
widen_margin(struct comparison *c, struct row *row, const struct rules *r)
{
	double v = r->history
	    ? history_margin(r->history, row->pair->side[0]->key, row->name)
	    : NAN;

	c->short_history += isnan(v);
	if (!(v > row->margin))
		return;
	row->margin = v;
	row->margin_sign = '\0';
	row->margin_from = "history";
}

/* Adds a row for a metric that both sides have. */
static void
add_row(struct comparison *c, struct pairing *p, const char *name,
    const struct rules *r)
{
	struct row row = {.pair = p,
	    .used = {*cases_runs(p->side[0], name),
		*cases_runs(p->side[1], name)},
	    .name = (char *)(size_t)name,
	    .visible = NAN,
	    .minutes = NAN};

	if (!row.used[0].n || !row.used[1].n || !rules_apply(r, &row))
		return;
	row.name = mem_str(name);
	row.facts = (row.exact ? verdict_measure_exact : verdict_start)(
	    row.used[0].v, row.used[0].n, row.used[1].v, row.used[1].n);
	if (row.exact && row.metric.exact && isnan(row.facts.sd) &&
	    !verdict_is_spread(&row.facts))
		row.gate = row.primary = false;
	if (row.margin_auto)
		widen_margin(c, &row, r);
	row.client_bound = cases_client_bound(p->side[0]) > 0 ||
	    cases_client_bound(p->side[1]) > 0;
	c->rows = mem_grow(c->rows, c->nrows, &c->cap, sizeof *c->rows);
	c->rows[c->nrows++] = row;
	p->rows++;
}

static void
add_one_sided(struct comparison *c, const struct pairing *p, const char *name,
    size_t side, const struct rules *r)
{
	struct row row = {.pair = p, .name = (char *)(size_t)name};
	bool optional = p->rows && cases_are_counted(p->side[side], name);

	if (!rules_apply(r, &row) || !row.gate)
		return;
	for (size_t i = 0; i < c->one_sided_count; i++)
		if (c->one_sided[i].side == side &&
		    c->one_sided[i].optional == optional &&
		    strcmp(c->one_sided[i].name, name) == 0) {
			c->one_sided[i].cases++;
			return;
		}
	c->one_sided = mem_resize(
	    c->one_sided, c->one_sided_count + 1, sizeof *c->one_sided);
	c->one_sided[c->one_sided_count++] =
	    (struct one_sided_gate){mem_str(name), side, 1, optional};
}

/* Finds judged metrics of one side only. */
static void
find_one_sided(
    struct comparison *c, const struct pairing *p, const struct rules *r)
{
	for (size_t s = 0; s < 2; s++) {
		const struct part *part = &p->side[s]->parts[0];

		for (size_t i = 0; i < part->nmetrics; i++)
			if (!cases_have_metric(
				p->side[!s], part->metrics[i].name))
				add_one_sided(
				    c, p, part->metrics[i].name, s, r);
	}
}

static void
judge_metrics(struct comparison *c, struct pairing *p, const struct rules *r)
{
	const struct part *base = p->side[0]->parts;

	/* Known metrics come first, in the order of the table. */
	for (const struct metric *m = metric_table; m->name; m++)
		add_row(c, p, m->name, r);
	for (size_t i = 0; i < base->nmetrics; i++)
		if (!metric_find(base->metrics[i].name))
			add_row(c, p, base->metrics[i].name, r);
}

/* Marks the primary row of a case, the first of them from 'from', unless the
 * policy names some: that of the primary metric, else its first judged row. */
static void
mark_primary(struct comparison *c, const struct pairing *p, size_t from)
{
	const char *name = metric_primary(p->side[0]->config);
	struct row *first = NULL;

	for (size_t i = from; i < c->nrows; i++) {
		struct row *row = &c->rows[i];

		if (row->primary)
			return;
		if (row->gate && (!first || strcmp(row->name, name) == 0))
			first = row;
	}
	if (first)
		first->primary = true;
}

static char *
format_value(const struct json *j)
{
	return json_type(j) == JSON_STRING ? mem_str(json_str(j))
					   : json_print(j);
}

static void
add_difference(struct comparison *c, const char *name, char *x, char *y)
{
	struct difference *d;

	for (size_t i = 0; i < c->ndifferences; i++) {
		d = &c->differences[i];
		if (strcmp(d->name, name) != 0 ||
		    strcmp(d->values[0], x) != 0 ||
		    strcmp(d->values[1], y) != 0)
			continue;
		d->cases++;
		free(x);
		free(y);
		return;
	}
	c->differences = mem_resize(
	    c->differences, c->ndifferences + 1, sizeof *c->differences);
	c->differences[c->ndifferences++] =
	    (struct difference){mem_str(name), {x, y}, 1};
}

/* What the runs of a side say: its value, "varied", or "-": they do not. */
static char *
describe_env(
    const struct json *env, const struct json *varied, const char *name)
{
	const struct json *v = json_get(env, name);

	if (json_get(varied, name))
		return mem_str("varied");
	return v ? format_value(v) : mem_str("-");
}

/* Adds CPUs that only one side names: those of the other were not pinned. */
static void
compare_pinning(struct comparison *c, const char *name, struct json *env[2],
    struct json *varied[2])
{
	const struct json *v[2] = {
	    json_get(env[0], name), json_get(env[1], name)};

	if (!v[0] != !v[1] && json_first(env[0]) && json_first(env[1]) &&
	    !json_get(varied[0], name) && !json_get(varied[1], name))
		add_difference(c, name, describe_env(env[0], varied[0], name),
		    describe_env(env[1], varied[1], name));
}

static void
compare_environments(struct comparison *c, const struct pairing *p)
{
	struct json *env[2], *varied[2];

	for (size_t s = 0; s < 2; s++) {
		env[s] = json_object();
		varied[s] = json_object();
		cases_env(p->side[s], env[s], varied[s]);
	}
	for (const struct json *j = json_first(env[0]); j; j = json_next(j)) {
		const struct json *k = json_get(env[1], json_key(j));

		/* Of the reference there is a sentence. */
		if (str_starts(json_key(j), "reference_"))
			continue;
		if (k && !json_get(varied[0], json_key(j)) &&
		    !json_get(varied[1], json_key(j)) && !json_equal(j, k))
			add_difference(
			    c, json_key(j), format_value(j), format_value(k));
	}
	compare_pinning(c, "server_cpus", env, varied);
	compare_pinning(c, "client_cpus", env, varied);
	for (size_t s = 0; s < 2; s++)
		for (const struct json *j = json_first(varied[s]); j;
		     j = json_next(j))
			if ((!s || !json_get(varied[0], json_key(j))) &&
			    !str_starts(json_key(j), "reference_"))
				add_difference(c, json_key(j),
				    describe_env(
					env[0], varied[0], json_key(j)),
				    describe_env(
					env[1], varied[1], json_key(j)));
	for (size_t s = 0; s < 2; s++) {
		json_free(env[s]);
		json_free(varied[s]);
	}
}

void
judge_name_pairs(struct comparison *c)
{
	const struct json **configs = mem_array(c->npairs + 1, sizeof *configs);
	struct casename *names;
	size_t n = 0;

	/* The config of a failed case may lack keys: it names no other case. */
	for (size_t i = 0; i < c->npairs; i++)
		for (size_t j = 0; j < 2; j++) {
			const struct kase *k = c->pairs[i].side[j];

			if (!k || all_failed(k))
				continue;
			configs[n++] = k->config;
			break;
		}
	names = casename_new(configs, n);
	for (size_t i = 0; i < 2 * c->npairs; i++) {
		struct pairing *p = &c->pairs[i / 2];
		const struct kase *k = p->side[i % 2];

		if (k)
			p->name[i % 2] = casename_of(names, k->config);
		if (all_failed(k))
			casename_differs(names, k->config);
	}
	c->common = casename_common(names);
	casename_free(names);
	free(configs);
}

void
judge_compare(struct comparison *c, const struct cases *base, size_t who,
    const struct cases *contender, size_t contender_who, const struct rules *r)
{
	*c = (struct comparison){.subject = {base->subjects[who],
				     contender->subjects[contender_who]}};
	for (size_t j = 0; j < 2; j++)
		c->name[j] = record_subject_title(c->subject[j]);
	c->pairs = pairing_new(base, who, contender, contender_who, &c->npairs);
	judge_name_pairs(c);
	for (size_t i = 0; i < c->npairs; i++) {
		struct pairing *p = &c->pairs[i];
		bool lost = all_failed(p->side[0]) || all_failed(p->side[1]);
		size_t before;

		if (p->side[1])
			c->failed_runs += cases_sum(p->side[1], "failed");
		for (size_t j = 0; j < 2; j++)
			c->unmatched[j] += p->side[j] && !p->side[!j] &&
			    !all_failed(p->side[j]);
		if (lost || !p->side[0] || !p->side[1])
			continue;
		c->matched++;
		busy_measure(p);
		p->reference = reference_compare(p);
		before = c->nrows;
		judge_metrics(c, p, r);
		mark_primary(c, p, before);
		find_one_sided(c, p, r);
		compare_environments(c, p);
		p->functions = functions_explain(base->functions, p->side[0],
		    contender->functions, p->side[1]);
		p->syscalls = functions_list_syscalls(base->functions,
		    p->side[0], contender->functions, p->side[1]);
	}
}

void
judge_free(struct comparison *c)
{
	for (size_t i = 0; i < c->nrows; i++)
		free(c->rows[i].name);
	for (size_t i = 0; i < c->ndifferences; i++) {
		free(c->differences[i].name);
		free(c->differences[i].values[0]);
		free(c->differences[i].values[1]);
	}
	for (size_t i = 0; i < c->noverall; i++)
		free(c->overall[i].name);
	for (size_t i = 0; i < c->one_sided_count; i++)
		free(c->one_sided[i].name);
	free(c->metrics);
	free(c->shifts.v);
	free(c->canaries);
	free(c->rule_issues);
	free(c->one_sided);
	free(c->rows);
	free(c->differences);
	free(c->overall);
	free(c->name[0]);
	free(c->name[1]);
	free(c->common);
	pairing_free(c->pairs, c->npairs);
	infer_free(c);
	*c = (struct comparison){0};
}

bool
judge_is_time(const struct row *r)
{
	return !r->common && metric_is_time(r->name, r->pair->side[0]->config);
}
