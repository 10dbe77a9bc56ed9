#include "recorded.h"
#include "caseset.h"
#include "counted.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "judge.h"
#include "mem.h"
#include "part.h"
#include "record.h"
#include "report.h"
#include "shift.h"
#include "str.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000000000 }; /* of any count */

/* The records of one comparison, in the order of the input. */
struct recorded_part {
	struct json **records;
	size_t n;
	struct kase *cases;
	size_t ncases;
	struct part *parts; /* the first: of all cases that were compared */
	struct json *whole; /* the record of that one */
	struct recorded_row {
		struct sample used[2];
		struct model_row rest;
	} * rows; /* what the rows borrow */
};

/* Records whose comparison is not complete. */
struct unfinished {
	struct json **v;
	size_t n, cap;
};

/* Returns -1 if it is there and is not a count. */
static int
read_count(const struct json *j, size_t *n)
{
	double v = json_num(j, j ? -1 : 0);

	if (!(v >= 0 && v <= MOST))
		return -1;
	*n = (size_t)v;
	return 0;
}

/* Reads an array of two numbers; both are NAN if it is absent. */
static int
read_pair(const struct json *rec, const char *key, double *a, double *b)
{
	const struct json *j = json_get(rec, key);

	*a = json_num(json_at(j, 0), NAN);
	*b = json_num(json_at(j, 1), NAN);
	return j && (json_len(j) != 2 || isnan(*a) || isnan(*b)) ? -1 : 0;
}

static int
read_verdict(const char *name, enum verdict *v)
{
	*v = name ? verdict_find(name) : VERDICTS;
	return *v < VERDICTS ? 0 : -1;
}

static char *
join_notes(const struct json *rec)
{
	struct str s = {0};

	str_add(&s, "");
	for (const struct json *j = json_first(json_get(rec, "notes")); j;
	     j = json_next(j)) {
		str_add(&s, s.len ? ", " : "");
		str_add(&s, json_str(j) ? json_str(j) : "");
	}
	return str_take(&s);
}

static int
read_waiver(struct row *r, const struct json *waiver)
{
	r->waived = waiver;
	r->waiver.rule = json_get_str(waiver, "rule");
	r->waiver.reason = json_get_str(waiver, "reason");
	r->waiver.expires = json_get_str(waiver, "expires");
	return waiver && (!r->waiver.reason || !r->waiver.expires) ? -1 : 0;
}

/* Sets an error that has the interval of the record. */
static int
read_rest(struct row *r, struct model_row *m, const struct json *rest)
{
	double lo, hi, wide;

	if (read_pair(rest, "ci95", &lo, &hi) < 0)
		return -1;
	wide = log(hi / lo) / 2 / tdist_normal_quantile(.975);
	r->has_rest = rest;
	r->model = m;
	*m = (struct model_row){.logs = true,
	    .own.df = INFINITY,
	    .rest = log(json_get_num(rest, "ratio", NAN)),
	    .rest_error = {wide * wide, INFINITY}};
	return 0;
}

/* Fills the row from a delta record. Returns what is wrong with it, or NULL. */
static const char *
read_row(struct comparison *c, struct row *r, struct recorded_row *of,
    const struct json *rec)
{
	const struct json *n = json_get(rec, "n");
	const struct json *needed = json_get(rec, "needed");
	const struct json *slow = json_get(rec, "slow");
	struct rare rare = {.above_ms = json_get_num(slow, "above_ms", 0)};
	struct verdict_facts *f = &r->facts;
	struct metric m;

	r->name = json_get_str(rec, "metric");
	r->notes = join_notes(rec);
	m = metric_guess(r->name);
	r->reason = json_get_str(rec, "reason");
	r->margin = json_get_num(rec, "margin", NAN);
	r->gate = strcmp(json_get_str(rec, "class"), "gate") == 0;
	r->common = json_get_bool(rec, "common", false);
	r->primary = json_get_bool(rec, "primary", false);
	r->noise = json_get_bool(rec, "noise", false);
	r->outweighed = json_get_bool(rec, "outweighed", false);
	r->visible = json_get_num(rec, "visible", NAN);
	r->minutes = json_get_num(needed, "minutes", NAN);
	f->p = json_get_num(rec, "probability", NAN);
	f->method = ""; /* notes name it */
	f->paired = json_get_bool(rec, "paired", false);
	f->ratio = json_get_num(rec, "ratio", NAN);
	for (size_t i = 0; i < 2; i++) {
		of->used[i].v = json_numbers(
		    json_at(json_get(rec, "values"), i), &of->used[i].n);
		r->used[i] = &of->used[i];
	}
	if (json_len(n) != 2 || read_count(json_at(n, 0), &f->m) < 0 ||
	    read_count(json_at(n, 1), &f->n) < 0)
		return "'n' is not two counts";
	if (read_pair(rec, "median", &f->median[0], &f->median[1]) < 0)
		return "'median' is not two numbers";
	if (read_pair(rec, "ci95", &f->lo95, &f->hi95) < 0)
		return "'ci95' is not two numbers";
	if (read_rest(r, &of->rest, json_get(rec, "rest")) < 0)
		return "'ci95' of 'rest' is not two numbers";
	if (slow &&
	    read_pair(slow, "shares", &rare.share[0], &rare.share[1]) < 0)
		return "'shares' of 'slow' is not two numbers";
	if (rare.above_ms > 0) {
		r->rare = mem_new(sizeof rare);
		*r->rare = rare;
	}
	if (strcmp(json_get_str(rec, "method"), "assumed") == 0 &&
	    counted_may_be(&m))
		counted_make_exact(&m);
	r->metric = judge_keep_metric(c, &m);
	if (m.exact && f->lo95 < f->hi95)
		f->sd = NAN; /* the runs of a side differ */
	if (read_verdict(json_get_str(rec, "verdict"), &r->verdict) < 0)
		return "'verdict' is unknown";
	if (read_count(json_get(needed, "runs"), &r->needed) < 0)
		return "'needed' has no count";
	if (read_waiver(r, json_get(rec, "waiver")) < 0)
		return "'waiver' lacks its reason or date";
	return NULL;
}

static const char *
read_shift(struct shift *t, const struct json *rec)
{
	const struct json *ks = json_get(rec, "ks");
	const struct json *j = json_first(json_get(rec, "quantiles"));

	*t = (struct shift){.hist = mem_str(json_get_str(rec, "hist"))};
	t->diff.d = json_get_num(ks, "d", NAN);
	t->diff.at =
	    (int64_t)fmax(-1e18, fmin(1e18, json_get_num(ks, "at", 0)));
	t->diff.w1 = json_get_num(ks, "w1", NAN);
	for (; j; j = json_next(j)) {
		struct shift_line *l = &t->v[t->n];

		if (t->n++ == SHIFT_LINES)
			return "'quantiles' has too many";
		l->percentile = json_get_num(j, "percentile", NAN);
		l->value[0] = json_get_num(j, "baseline", NAN);
		l->value[1] = json_get_num(j, "contender", NAN);
		l->ratio = json_get_num(j, "ratio", NAN);
		if (read_pair(j, "ci95", &l->lo, &l->hi) < 0)
			return "'ci95' is not two numbers";
	}
	return NULL;
}

static const char *
read_overall(struct comparison *c, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "overall"));

	c->overall = mem_array(
	    json_len(json_get(rec, "overall")) + 1, sizeof *c->overall);
	for (; j; j = json_next(j)) {
		struct overall *o = &c->overall[c->noverall++];

		o->name = mem_str(json_key(j));
		o->ratio = json_get_num(j, "ratio", NAN);
		if (read_count(json_get(j, "cases"), &o->cases) < 0 ||
		    read_pair(j, "ci95", &o->lo, &o->hi) < 0)
			return "'overall' has an invalid result";
	}
	return NULL;
}

static const char *
read_counts(struct comparison *c, const struct recorded_part *p)
{
	const struct json *rec = c->record, *counts = json_get(rec, "verdicts");

	/* Of several, each has the counts of its own cases. */
	if (p->n > 1 && record_is(p->records[p->n - 2], "comparison"))
		counts = NULL;

	for (size_t i = 0; i < c->nrows && !counts; i++)
		c->count[c->rows[i].verdict] += report_is_judged(&c->rows[i]);
	for (size_t i = 0; i < VERDICTS && counts; i++)
		if (read_count(json_get(counts, verdict_name((enum verdict)i)),
			&c->count[i]) < 0)
			return "'verdicts' has something that is not a count";
	if (read_count(json_get(counts, "waived"), &c->waived) < 0 ||
	    read_count(json_get(rec, "cases"), &c->matched) < 0)
		return "'cases' or 'waived' is not a count";
	return NULL;
}

/* Adds a pair of a case, whose partner is not known. */
static void
add_pair(struct comparison *c, struct recorded_part *p,
    const struct json *config, struct part *part)
{
	struct kase *k = &p->cases[p->ncases++];

	*k = (struct kase){.config = config, .parts = part, .nparts = 1};
	c->pairs[c->npairs++].side[0] = k;
}

/* Adds the cases that were not compared: names depend on all cases. */
static const char *
read_lost_cases(
    struct comparison *c, struct recorded_part *p, const struct json *list)
{
	for (struct json *j = json_first(list); j; j = json_next(j)) {
		struct part *part = &p->parts[1 + p->ncases];

		const struct json *config = json_get(j, "config");

		if (!config || json_type(config) != JSON_OBJECT)
			return "a case that was not compared has no config";
		part->rest = j;
		add_pair(c, p, config, part);
	}
	return NULL;
}

/* Reads the fields of a pair from the record of one of its rows. */
static void
read_together(struct pairing *p, const struct row *r, const struct json *rec)
{
	const char *text = json_get_str(rec, "together");
	const char *functions = json_get_str(rec, "functions");
	char **to =
	    strcmp(r->name, COUNTED_METRIC) == 0 ? &p->functions : &p->syscalls;

	if (text && !p->together)
		p->together = mem_str(text);
	if (functions && !*to)
		*to = mem_str(functions);
}

/* Reads the records before the comparison record, one for each row or shift. */
static const char *
read_details(struct comparison *c, struct recorded_part *p)
{
	struct caseset *configs = caseset_new();
	const char *why = NULL;

	for (size_t i = 0; i + 1 < p->n && !why; i++) {
		const struct json *config = json_get(p->records[i], "config");
		size_t id = caseset_add_value(configs, config);

		if (id == c->npairs)
			add_pair(c, p, config, &p->parts[0]);
		if (record_is(p->records[i], "delta")) {
			struct recorded_row *of = &p->rows[c->nrows];
			struct row *r = &c->rows[c->nrows++];

			r->pair = &c->pairs[id];
			why = read_row(c, r, of, p->records[i]);
			read_together(&c->pairs[id], r, p->records[i]);
		} else {
			struct shift *t = &c->shifts.v[c->shifts.n++];

			why = read_shift(t, p->records[i]);
			t->pair = &c->pairs[id];
		}
	}
	caseset_free(configs);
	return why;
}

/* Makes the comparison of a part, whose last record is the comparison. */
static const char *
read_comparison(struct comparison *c, struct recorded_part *p)
{
	const struct json *rec = p->records[p->n - 1];
	const struct json *unmatched = json_get(rec, "unmatched");
	const struct json *failed = json_get(rec, "failed");
	size_t most = p->n + json_len(unmatched) + json_len(failed);
	const char *why;

	*c = (struct comparison){.record = rec};
	p->cases = mem_array(most, sizeof *p->cases);
	p->parts = mem_array(1 + most, sizeof *p->parts);
	p->parts[0].rest = p->whole = json_object();
	json_set_num(p->whole, "n", 1);
	c->pairs = mem_array(most, sizeof *c->pairs);
	c->rows = mem_array(p->n, sizeof *c->rows);
	p->rows = mem_array(p->n, sizeof *p->rows);
	c->shifts.v = mem_array(p->n, sizeof *c->shifts.v);
	c->subject[0] = json_get(rec, "baseline");
	c->subject[1] = json_get(rec, "contender");
	for (size_t j = 0; j < 2; j++)
		c->name[j] = record_subject_title(c->subject[j]);
	if ((why = read_details(c, p)) ||
	    (why = read_lost_cases(c, p, unmatched)) ||
	    (why = read_lost_cases(c, p, failed)) || (why = read_counts(c, p)))
		return why;
	judge_name_pairs(c);
	return read_overall(c, rec);
}

static void
free_comparison(struct comparison *c, struct recorded_part *p)
{
	for (size_t i = 0; i < c->nrows; i++) {
		free((char *)(size_t)c->rows[i].notes);
		free(p->rows[i].used[0].v);
		free(p->rows[i].used[1].v);
	}
	judge_free(c);
	for (size_t i = 0; i < p->n; i++)
		json_free(p->records[i]);
	free(p->records);
	free(p->rows);
	free(p->cases);
	json_free(p->whole);
	free(p->parts);
}

const char *
recorded_add(struct recorded *r, struct json **records, size_t n)
{
	struct recorded_part p = {.records = records, .n = n};
	struct comparison c = {0};
	struct json *rec;
	const char *why;

	if (!record_is(records[n - 1], "comparison")) {
		rec = json_object();
		json_set(rec, "baseline",
		    json_dup(json_get(records[0], "baseline")));
		json_set(rec, "contender",
		    json_dup(json_get(records[0], "contender")));
		p.records = mem_resize(records, n + 1, sizeof *records);
		p.records[p.n++] = rec;
	}
	why = read_comparison(&c, &p);
	if (why) {
		free_comparison(&c, &p);
		return why;
	}
	r->parts = mem_resize(r->parts, r->n + 1, sizeof *r->parts);
	r->c = mem_resize(r->c, r->n + 1, sizeof *r->c);
	r->parts[r->n] = p;
	r->c[r->n++] = c;
	return NULL;
}

/* Adds a record to those of the comparison that is read, and with its last one
 * the comparison. Returns what is wrong, or NULL. */
static const char *
take_record(struct recorded *r, struct unfinished *l, struct json *rec)
{
	struct unfinished whole;

	l->v = mem_grow(l->v, l->n, &l->cap, sizeof *l->v);
	l->v[l->n++] = rec;
	if (record_is(rec, "delta") || record_is(rec, "shift"))
		return NULL;
	if (!record_is(rec, "comparison"))
		return "not a record of vkb-compare --format jsonl";
	if (!json_get_str(rec, "headline") || !json_get_str(rec, "method"))
		return "it has no 'headline' and 'method': it is of an older "
		       "vkb-compare";
	whole = *l;
	*l = (struct unfinished){0};
	return recorded_add(r, whole.v, whole.n);
}

int
recorded_read(struct recorded *r, struct jsonl *in)
{
	struct unfinished l = {0};
	struct json *rec;
	const char *why = NULL;
	int got = 0;

	*r = (struct recorded){0};
	while (!why && (got = record_next(in, &rec)) > 0)
		why = take_record(r, &l, rec);
	if (why)
		got = jsonl_fail(in, why);
	else if (got == 0 && (!r->n || l.n))
		got = err_fail("the records do not end with a comparison "
			       "record: they are cut, or not of "
			       "vkb-compare --format jsonl");
	for (size_t i = 0; i < l.n; i++)
		json_free(l.v[i]);
	free(l.v);
	return got;
}

void
recorded_free(struct recorded *r)
{
	for (size_t i = 0; i < r->n; i++)
		free_comparison(&r->c[i], &r->parts[i]);
	free(r->parts);
	free(r->c);
	*r = (struct recorded){0};
}
