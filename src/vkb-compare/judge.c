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
#include "shift.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the pairs of cases */

struct candidate {
	const struct kase *k;
	size_t partner; /* index + 1 in the other half, or 0 */
	size_t fits;    /* how many cases could be the partner */
	size_t first;   /* index of the first of these */
	/* Of the config, for a quick test; NULL and NAN: not known. */
	const char *command;
	double size, depth;
};

static struct candidate *
collect_half(const struct cases *c, size_t who, size_t *n)
{
	struct candidate *h = mem_array(c->n + 1, sizeof *h);

	*n = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct json *config = c->v[i].config;

		if (c->v[i].who != who)
			continue;
		h[(*n)++] = (struct candidate){.k = &c->v[i],
		    .command = json_get_str(config, "command"),
		    .size = json_get_num(config, "data_size", NAN),
		    .depth = json_get_num(config, "pipeline", NAN)};
	}
	return h;
}

/* Has one side a number of requests and the other a time? */
static bool
differ_in_length(const struct json *a, const struct json *b)
{
	return json_get(a, "requests") && !json_get(a, "duration_s") &&
	    json_get(b, "duration_s") && !json_get(b, "requests");
}

static bool
is_compatible(const struct json *a, const struct json *b)
{
	size_t both = 0;

	for (const struct json *j = json_first(a); j; j = json_next(j)) {
		const struct json *k = json_get(b, json_key(j));

		if (k && !json_equal(j, k))
			return false;
		both += k != NULL;
	}
	return both > 0 && !differ_in_length(a, b) && !differ_in_length(b, a);
}

static void
describe_lacking(
    struct str *s, const struct json *a, const struct json *b, const char *who)
{
	bool any = false;

	for (const struct json *j = json_first(a); j; j = json_next(j)) {
		if (json_get(b, json_key(j)))
			continue;
		if (!any)
			str_add(s, s->len ? "; " : "paired by common keys: ");
		str_printf(s, any ? ", %s" : "%s", json_key(j));
		any = true;
	}
	if (any)
		str_printf(s, " unknown in the %s", who);
}

/* Both are sorted by their keys. */
static void
pair_equal(struct candidate *a, size_t n, struct candidate *b, size_t m)
{
	size_t i = 0, k = 0;

	while (i < n && k < m) {
		int c = cases_compare_keys(a[i].k->key, b[k].k->key);

		if (c == 0) {
			a[i].partner = k + 1;
			b[k].partner = i + 1;
		}
		i += c <= 0;
		k += c >= 0;
	}
}

static bool
is_other_case(const struct candidate *a, const struct candidate *b)
{
	return a->size < b->size || a->size > b->size || a->depth < b->depth ||
	    a->depth > b->depth ||
	    (a->command && b->command && strcmp(a->command, b->command) != 0);
}

static void
pair_likely(struct candidate *a, size_t n, struct candidate *b, size_t m)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m && !a[i].partner; k++) {
			if (b[k].partner || is_other_case(&a[i], &b[k]) ||
			    !is_compatible(
				cases_config(a[i].k), cases_config(b[k].k)))
				continue;
			if (!a[i].fits++)
				a[i].first = k;
			b[k].fits++;
		}
	for (size_t i = 0; i < n; i++) {
		struct candidate *h = &b[a[i].first];

		if (a[i].partner || a[i].fits != 1 || h->fits != 1)
			continue;
		a[i].partner = a[i].first + 1;
		h->partner = i + 1;
	}
}

/*
 * Pairs each case of the baseline with one of the contender: the one of equal
 * configuration or, if there is none, the only one that agrees on every key
 * that both have. Returns them in the order of the baseline's cases.
 */
static struct pairing *
pair_cases(const struct cases *base, size_t base_who,
    const struct cases *contender, size_t contender_who, size_t *count)
{
	size_t n, m, at = 0;
	struct candidate *a = collect_half(base, base_who, &n);
	struct candidate *b = collect_half(contender, contender_who, &m);
	struct pairing *p = mem_array(n + m + 1, sizeof *p);

	pair_equal(a, n, b, m);
	pair_likely(a, n, b, m);
	for (size_t i = 0; i < n; i++, at++) {
		const struct kase *x = a[i].k, *y;
		struct str note = {0};

		y = a[i].partner ? b[a[i].partner - 1].k : NULL;
		p[at].side[0] = x;
		p[at].side[1] = y;
		if (!y || strcmp(x->key, y->key) == 0)
			continue;
		describe_lacking(
		    &note, cases_config(x), cases_config(y), "contender");
		describe_lacking(
		    &note, cases_config(y), cases_config(x), "baseline");
		p[at].note = str_take(&note);
	}
	for (size_t k = 0; k < m; k++)
		if (!b[k].partner)
			p[at++].side[1] = b[k].k;
	*count = at;
	free(a);
	free(b);
	return p;
}

static void
free_pairs(struct pairing *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(p[i].note);
		free(p[i].functions);
		free(p[i].syscalls);
		free(p[i].together);
		if (p[i].name[1] != p[i].name[0])
			free(p[i].name[1]);
		free(p[i].name[0]);
	}
	free(p);
}

/* --- their rows */

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

const struct metric *
judge_keep_metric(struct comparison *c, const struct metric *m)
{
	for (size_t i = 0; i < c->nkept; i++)
		if (c->kept[i]->exact == m->exact &&
		    c->kept[i]->better == m->better &&
		    strcmp(c->kept[i]->name, m->name) == 0)
			return c->kept[i];
	c->kept = mem_resize(c->kept, c->nkept + 1, sizeof(struct metric *));
	c->kept[c->nkept] = mem_new(sizeof *m);
	*c->kept[c->nkept] = *m;
	return c->kept[c->nkept++];
}

/* Adds a row for a metric that both sides have. */
static void
add_row(struct comparison *c, struct pairing *p, const struct part_metric *base,
    const struct rules *r)
{
	const struct sample *x = &base->runs;
	const struct sample *y = cases_runs(p->side[1], base->name);
	struct metric m;
	struct row row;

	if (!x->n || !y->n)
		return;
	row = (struct row){.pair = p,
	    .used = {x, y},
	    .model = &model_none,
	    .name = base->name,
	    .visible = NAN,
	    .minutes = NAN};
	if (!rules_apply(r, &row, &m))
		return;
	row.metric = judge_keep_metric(c, &m);
	row.facts = (row.exact ? verdict_measure_exact : verdict_start)(
	    x->v, x->n, y->v, y->n);
	if (row.exact && row.metric->exact && isnan(row.facts.sd) &&
	    !verdict_is_spread(&row.facts))
		row.gate = row.primary = false;
	if (row.margin_auto)
		widen_margin(c, &row, r);
	rare_measure(&row);
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
	struct row row = {.pair = p, .name = name};
	struct metric m;
	bool optional = p->rows && cases_are_counted(p->side[side], name);

	if (!rules_apply(r, &row, &m) || !row.gate)
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
		for (size_t i = 0; i < base->nmetrics; i++)
			if (base->metrics[i].of == m)
				add_row(c, p, &base->metrics[i], r);
	for (size_t i = 0; i < base->nmetrics; i++)
		if (!base->metrics[i].of)
			add_row(c, p, &base->metrics[i], r);
}

/* Marks the primary row of a case, the first of them from 'from', unless the
 * policy names some: that of the primary metric, else its first judged row. */
static void
mark_primary(struct comparison *c, const struct pairing *p, size_t from)
{
	const char *name = metric_primary(cases_config(p->side[0]));
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
			configs[n++] = cases_config(k);
			break;
		}
	names = casename_new(configs, n);
	for (size_t i = 0; i < 2 * c->npairs; i++) {
		struct pairing *p = &c->pairs[i / 2];
		const struct kase *k = p->side[i % 2];

		if (k)
			p->name[i % 2] = i % 2 && p->side[0] &&
				cases_config(p->side[0]) == cases_config(k)
			    ? p->name[0]
			    : casename_of(names, cases_config(k));
		if (all_failed(k))
			casename_differs(names, cases_config(k));
	}
	c->common = casename_common(names);
	casename_free(names);
	free(configs);
}

/* Leaves of what the configurations of pairs share what that of this one has:
 * so the name of a row for all cases differs from theirs only in the command.
 */
static void
share_config(struct comparison *c, const struct json *config)
{
	if (!c->shared)
		c->shared = json_dup(config);
	for (const struct json *j = json_first(c->shared), *next; j; j = next) {
		next = json_next(j);
		if (!json_equal(j, json_get(config, json_key(j))))
			json_del(c->shared, json_key(j));
	}
}

void
judge_compare(struct comparison *c, const struct cases *base, size_t who,
    const struct cases *contender, size_t contender_who, const struct rules *r)
{
	*c = (struct comparison){.subject = {base->subjects[who],
				     contender->subjects[contender_who]}};
	for (size_t j = 0; j < 2; j++)
		c->name[j] = record_subject_title(c->subject[j]);
	c->pairs = pair_cases(base, who, contender, contender_who, &c->npairs);
	judge_name_pairs(c);
	busy_measure(c);
	for (size_t i = 0; i < c->npairs; i++) {
		struct pairing *p = &c->pairs[i];
		bool lost = all_failed(p->side[0]) || all_failed(p->side[1]);
		const struct callgraph *profile[2];
		size_t before;

		if (p->side[1])
			c->failed_runs += cases_sum(p->side[1], "failed");
		for (size_t j = 0; j < 2; j++)
			c->unmatched[j] += p->side[j] && !p->side[!j] &&
			    !all_failed(p->side[j]);
		if (p->side[0] && p->side[1])
			share_config(c, cases_config(p->side[0]));
		if (lost || !p->side[0] || !p->side[1])
			continue;
		c->matched++;
		p->reference = reference_compare(p);
		before = c->nrows;
		judge_metrics(c, p, r);
		mark_primary(c, p, before);
		find_one_sided(c, p, r);
		compare_environments(c, p);
		for (size_t j = 0; j < 2; j++)
			profile[j] =
			    functions_find((j ? contender : base)->functions,
				cases_config(p->side[j]), p->side[j]->subject);
		p->functions = functions_explain(profile[0], profile[1]);
		p->syscalls = functions_list_syscalls(profile[0], profile[1]);
	}
}

void
judge_free(struct comparison *c)
{
	for (size_t i = 0; i < c->nkept; i++)
		free(c->kept[i]);
	for (size_t i = 0; i < c->ndifferences; i++) {
		free(c->differences[i].name);
		free(c->differences[i].values[0]);
		free(c->differences[i].values[1]);
	}
	for (size_t i = 0; i < c->noverall; i++)
		free(c->overall[i].name);
	for (size_t i = 0; i < c->one_sided_count; i++)
		free(c->one_sided[i].name);
	for (size_t i = 0; i < c->shifts.n; i++)
		free(c->shifts.v[i].hist);
	for (size_t i = 0; i < c->nmetrics; i++)
		free(c->metrics[i].rows);
	for (size_t i = 0; i < c->nrows; i++)
		free(c->rows[i].rare);
	free(c->metrics);
	free(c->shifts.v);
	free(c->canaries);
	free(c->rule_issues);
	free(c->one_sided);
	free(c->rows);
	free(c->kept);
	free(c->differences);
	free(c->overall);
	for (int j = 0; j < 2; j++) {
		free(c->name[j]);
		json_free(c->named[j]);
	}
	free(c->common);
	json_free(c->shared);
	free_pairs(c->pairs, c->npairs);
	infer_free(c);
	*c = (struct comparison){0};
}

bool
judge_is_time(const struct row *r)
{
	return !r->common &&
	    metric_is_time(r->name, cases_config(r->pair->side[0]));
}
