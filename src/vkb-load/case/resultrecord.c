#include "resultrecord.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "metric.h"
#include "str.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/meter/watch.h"

#include <math.h>
#include <stdbool.h>

static void
add_all(struct json *m, const struct json *more)
{
	for (more = json_first(more); more; more = json_next(more))
		json_set(m, json_key(more), json_dup(more));
}

static void
add_cost(struct json *m, const struct watch_cost *cost)
{
	json_set_num(m, "client_cpu_us_per_req", cost->client_cpu_us_per_req);
	json_set_num(m, "client_cycles_per_req", cost->client_cycles_per_req);
	json_set_num(m, "client_busy_percent", cost->client_busy_percent);
	json_set_num(m, "server_cpu_us_per_req", cost->server_cpu_us_per_req);
	json_set_num(m, "server_cycles_per_req", cost->server_cycles_per_req);
	json_set_num(m, "server_instructions_per_req",
	    cost->server_instructions_per_req);
	json_set_num(m, "server_busy_percent", cost->server_busy_percent);
	json_set_num(m, "memory_mb", cost->memory_mb);
	add_all(m, cost->sampled);
}

static void
add_connects(struct json *m, const struct engine_result *r)
{
	if (!r->connect)
		return;
	json_set_num(m, "connects", r->connects);
	json_set_num(m, "connects_per_s", r->connects / r->elapsed_s);
	json_set_num(m, "resumed", r->resumed);
	metric_set_times(m, "connect_ns", r->connect);
}

static struct json *
make_metrics(
    const struct engine_result *r, const struct watch_cost *cost, bool part)
{
	struct json *m = json_object();

	if (r->capacity_rps > 0)
		json_set_num(m, "capacity_rps", r->capacity_rps);
	json_set_num(m, "rps", r->rps);
	metric_set_times(m, "latency_ns", r->latency);
	if (r->requests || !(r->rps > 0)) /* valkey-benchmark may not tell */
		json_set_num(m, "requests", (double)r->requests);
	json_set_num(m, "elapsed_s", r->elapsed_s);
	if (!r->errors_unknown)
		json_set_num(m, "errors", (double)r->errors_total);
	json_set_num(m, "lost", r->lost);
	json_set_num(m, "unanswered", r->unanswered);
	json_set_num(m, "reconnects", r->reconnects);
	json_set_num(m, "pushes", r->pushes);
	json_set_num(m, "hit_rate_percent", r->hit_rate_percent);
	add_connects(m, r);
	if (r->verified.on) {
		json_set_num(m, "verify_checked", (double)r->verified.checked);
		json_set_num(m, "verify_missing", (double)r->verified.missing);
		json_set_num(m, "verify_errors", (double)r->verified.errors);
	}
	add_all(m, cost->machine);
	if (!part)
		add_cost(m, cost);
	json_set_num(m, "offered_rps", r->offered_rps);
	json_set_num(m, "max_backlog", r->max_backlog);
	metric_set_achieved(m);
	return m;
}

static void
set_hist(struct json *hists, const char *name, const struct hist *h)
{
	struct str s = {0};

	if (!h)
		return;
	histcodec_encode(&s, h);
	json_set_str(hists, name, s.s);
	str_free(&s);
}

/* All columns have the same length; a column with a gap is left out. */
static struct json *
make_series(const struct engine_result *r)
{
	static const char *const names[] = {
	    "at_s", "rps", "p50_latency_ms", "p99_latency_ms", "offered_rps"};
	enum { COLUMNS = sizeof names / sizeof *names };
	struct json *columns[COLUMNS], *series;

	if (!r->nintervals)
		return NULL;
	for (size_t k = 0; k < COLUMNS; k++)
		columns[k] = json_array();
	for (size_t i = 0; i < r->nintervals; i++) {
		const struct engine_interval *v = &r->intervals[i];

		json_push_num(columns[0], v->at_s);
		if (r->intervals[0].offered_rps > 0)
			json_push_num(columns[4], v->offered_rps);
		if (v->length_s > 0)
			json_push_num(
			    columns[1], (double)v->requests / v->length_s);
		if (!v->requests)
			continue;
		json_push_num(columns[2], v->p50_ms);
		json_push_num(columns[3], v->p99_ms);
	}
	series = json_object();
	for (size_t k = 0; k < COLUMNS; k++)
		if (json_len(columns[k]) == r->nintervals)
			json_set(series, names[k], columns[k]);
		else
			json_free(columns[k]);
	return series;
}

/* Returns "KIND: count", or NULL if there is nothing. */
static struct json *
make_counts(const struct engine_error *v, size_t n)
{
	struct json *e = n ? json_object() : NULL;

	for (size_t i = 0; i < n; i++)
		json_set_num(e, v[i].kind,
		    json_get_num(e, v[i].kind, 0) + (double)v[i].count);
	return e;
}

void
result_record_set(struct json *run, const struct engine_result *r,
    const struct watch_cost *cost, bool part)
{
	struct json *hists = json_object();

	json_set(run, "metrics", make_metrics(r, cost, part));
	set_hist(hists, "latency_ns", r->latency);
	set_hist(hists, "service_ns", r->service);
	set_hist(hists, "connect_ns",
	    r->connect && hist_count(r->connect) ? r->connect : NULL);
	if (json_len(hists))
		json_set(run, "hist", hists);
	else
		json_free(hists);
	json_set(run, "series", make_series(r));
	if (r->active_s > 0 && !part)
		json_set_num(
		    json_get(run, "run"), "slices", (double)r->nintervals);
	if (!part && json_len(cost->samples))
		json_set(run, "samples", json_dup(cost->samples));
	json_set(run, "errors", make_counts(r->errors, r->nerrors));
	json_set(run, "omitted", make_counts(r->omitted, r->nomitted));
	json_set_str(run, "bound", watch_bound_name(cost->bound));
}

void
result_record_fail(struct json *run, const char *why)
{
	json_set_str(run, "status", "failed");
	json_set_str(run, "error", why);
}

struct json *
result_record_describe_reference(const struct json *run)
{
	const struct json *subject = json_get(run, "subject");
	struct json *facts = json_object();

	json_set_str(
	    facts, "reference_sha256", json_get_str(subject, "binary_sha256"));
	json_set_str(facts, "reference_version",
	    json_get_str(subject, "server_version"));
	return facts;
}

void
result_record_set_reference(
    struct json *run, const struct json *facts, const struct json *reference)
{
	struct json *metrics = json_get(run, "metrics");
	const struct json *of = json_get(reference, "metrics");
	double own, other;

	if (!metric_is_closed(json_get(run, "config")))
		return;
	add_all(json_get(run, "env"), facts);
	for (const struct metric *m = metric_table; m->name; m++) {
		if (!m->instead_of)
			continue;
		own = json_get_num(metrics, m->instead_of, NAN);
		other = json_get_num(of, m->instead_of, NAN);
		if (own > 0 && other > 0)
			json_set_num(metrics, m->name, own / other);
	}
}

void
result_record_copy_facts(struct json *const *recs, size_t n)
{
	static const char *const sections[] = {"subject", "run", "env"};
	const struct json *from;
	struct json *to;

	for (size_t k = 0; k < sizeof sections / sizeof *sections; k++)
		for (size_t i = 1; i < n; i++) {
			from = json_get(recs[0], sections[k]);
			to = json_get(recs[i], sections[k]);
			for (from = json_first(from); from;
			     from = json_next(from))
				if (!json_get(to, json_key(from)))
					json_set(
					    to, json_key(from), json_dup(from));
		}
}

struct json *
result_record_merge(const struct json *const *metrics, size_t n)
{
	struct json *all = n ? json_dup(metrics[0]) : json_object();
	const char *key;
	double a, b;

	for (size_t i = 1; i < n; i++)
		for (const struct json *m = json_first(metrics[i]); m;
		     m = json_next(m)) {
			key = json_key(m);
			a = json_get_num(all, key, NAN);
			b = json_num(m, NAN);
			if (metric_guess(key).join == METRIC_SUM)
				a += b;
			else
				a = fmax(a, b);
			json_set_num(all, key, a);
		}
	return all;
}
