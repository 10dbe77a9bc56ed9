#include "roles.h"
#include "cpulist.h"
#include "hist.h"
#include "json.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns "CASE_write_PART". Caller frees. */
static char *
name_part(const char *cas, const struct json *part, bool writes)
{
	const char *id = json_get_str(part, "id");

	return mem_printf("%s_%s_%s", cas ? cas : "mixed",
	    writes ? "write" : "read", id ? id : "unknown");
}

/* Turns the config of a mixed case into that of one of its parts. */
static void
set_part_config(struct json *c, const struct json *part, bool writes)
{
	char *name = name_part(json_get_str(c, "test_id"), part, writes);

	json_set_str(c, "test_id", name);
	free(name);
	json_set_str(c, "test_phase", writes ? "mixed_write" : "mixed_read");
	json_set_num(c, "clients", 1);
	bench_case_adopt_part(c, part);
	if (json_get(part, "warmup"))
		json_set_bool(c, "warmup_apart", true);
	if (json_get(part, "requests"))
		json_del(c, "duration_s");
	else if (json_get(part, "duration"))
		json_del(c, "requests");
	else if (json_get(part, "maxdocs")) {
		json_del(c, "duration_s");
		json_set(c, "requests", json_dup(json_get(part, "maxdocs")));
	}
}

static void
add_role(struct roles *r, struct json *config, char *name, long long seed)
{
	struct role *role = &r->v[r->n++];

	*role = (struct role){.config = config, .name = name, .seed = seed};
	bench_case_fill_load(&role->load, config);
}

static void
add_parts(struct roles *r, const struct bench_case *cas, const char *side)
{
	const struct json *part = json_first(json_get(cas->config, side));
	bool writes = strcmp(side, "writes") == 0;
	struct json *c;

	for (; part; part = json_next(part)) {
		c = json_dup(cas->config);
		json_del(c, "writes");
		json_del(c, "reads");
		set_part_config(c, part, writes);
		add_role(r, c, name_part(cas->id, part, writes),
		    (long long)json_get_num(part, "seed", -1));
	}
}

/* All parts run for the shortest of their durations. */
static void
set_common_duration(struct roles *r)
{
	double least = 0, d;

	for (size_t i = 0; i < r->n; i++) {
		d = r->v[i].load.work.duration_s;
		if (d > 0 && (least <= 0 || d < least))
			least = d;
	}
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].load.work.duration_s > 0) {
			json_set_num(r->v[i].config, "duration_s", least);
			r->v[i].load.work.duration_s = least;
		}
}

/* Returns the number of parallel clients of a role. */
static size_t
count_streams(const struct bench_load *l)
{
	if (l->parallel_clients >= 1)
		return (size_t)l->parallel_clients;
	if (l->parallel && l->cluster)
		return (size_t)l->nodes;
	return 1;
}

/*
 * Shares the rate of a mixed scenario among its parts, in proportion to their
 * connections.
 */
static void
share_rate(struct roles *r)
{
	double all = 0;

	for (size_t i = 0; i < r->n; i++)
		all += (double)r->v[i].load.work.clients * (double)r->v[i].n;
	for (size_t i = 0; i < r->n && r->n > 1; i++) {
		struct bench_load *l = &r->v[i].load;

		l->rate = ratespec_scale(&l->rate,
		    (double)l->work.clients * (double)r->v[i].n / all);
		if (l->rate.from > 0)
			json_set(
			    r->v[i].config, "rate", ratespec_json(&l->rate));
	}
}

/* Returns the CPUs of the i-th stream, in *to, or NULL if they are not given.
 */
static const cpu_set_t *
choose_cpus(const struct bench_case *c, size_t i, cpu_set_t *to)
{
	size_t n = json_len(c->client_cpus_each);
	const char *why,
	    *cpus = n ? json_str(json_at(c->client_cpus_each, i % n))
		      : c->client_cpus;

	return cpus && cpulist_parse(cpus, to, &why) == 0 ? to : NULL;
}

/* Adds a role for the i-th command of the first role. There is room. */
static void
add_command(struct roles *r, size_t i, const char *command)
{
	const struct role *all = &r->v[0];
	struct role *part = &r->v[r->n++];

	*part = (struct role){.config = json_dup(all->config),
	    .name = mem_printf("%s:%s", all->name, command),
	    .seed = -1,
	    .part = i + 1};
	json_set_str(part->config, "command", command);
	bench_case_fill_load(&part->load, part->config);
}

/*
 * Adds a role for each command of the mix of the first role, but not where a
 * capacity is searched: that has no rates and latencies.
 */
static void
add_mix(struct roles *r)
{
	r->nown = r->n;
	if (!r->v[0].load.mix)
		return;
	free(mixspec_parse(r->v[0].load.mix, &r->mix)); /* it was checked */
	r->v = mem_resize(r->v, r->n + r->mix.n, sizeof *r->v);
	for (size_t i = 0; i < r->mix.n && !r->v[0].load.slo; i++)
		add_command(r, i, r->mix.v[i].command);
}

void
roles_add_replayed(struct roles *r, const struct engine_result *all)
{
	r->v = mem_resize(r->v, r->n + all->nparts, sizeof *r->v);
	for (size_t i = 0; i < all->nparts; i++)
		add_command(r, i, all->parts[i].name);
}

/* Returns what one of the streams that share a load does. */
static struct engine_work
make_work(const struct roles *r, const struct bench_load *l, size_t share)
{
	struct ratespec rate = ratespec_scale(&l->rate, 1 / (double)share);
	struct engine_work w = l->work;

	w.mix = l->mix ? r->mix.v : NULL;
	w.nmix = l->mix ? r->mix.n : 0;
	if (l->warmup_apart)
		w.warmup_s = 0;
	w.rate = ratespec_mean(&rate);
	if (ratespec_changes(&rate))
		w.ramp = rate;
	return w;
}

/* Streams of one case have different seeds, the same in each repetition. */
static uint64_t
make_stream_seed(uint64_t seed, size_t i)
{
	struct rng r;

	if (!i)
		return seed;
	rng_seed(&r, seed, i);
	return rng_next(&r) >> 32;
}

void
roles_make(struct roles *r, const struct bench_case *cas, uint64_t seed,
    double timeout_s)
{
	const struct json *c = cas->config;
	size_t most, n = 0;

	*r = (struct roles){0};
	most = json_len(json_get(c, "writes")) + json_len(json_get(c, "reads"));
	r->v = mem_array(most + 1, sizeof *r->v);
	add_parts(r, cas, "writes");
	add_parts(r, cas, "reads");
	if (!most)
		add_role(r, json_dup(c), mem_str(cas->id ? cas->id : ""), -1);
	set_common_duration(r);
	add_mix(r);
	for (size_t i = 0; i < r->nown; i++) {
		r->v[i].first = r->nworks;
		r->v[i].n = count_streams(&r->v[i].load);
		r->nworks += r->v[i].n;
	}
	share_rate(r);
	r->works = mem_array(r->nworks + 1, sizeof *r->works);
	r->data = mem_array(r->nworks + 1, sizeof *r->data);
	r->cpus = mem_array(r->nworks + 1, sizeof *r->cpus);
	for (size_t i = 0; i < r->nown; i++) {
		const struct role *role = &r->v[i];
		const struct bench_load *l = &role->load;

		for (size_t k = 0; k < role->n; k++, n++) {
			r->works[n] = make_work(r, l, role->n);
			r->works[n].replay = l->replay ? cas->trace : NULL;
			r->data[n] = l->data;
			r->works[n].data = &r->data[n];
			r->works[n].seed = role->seed >= 0
			    ? make_stream_seed((uint64_t)role->seed, k)
			    : make_stream_seed(seed, n);
			r->works[n].timeout_s = timeout_s;
			r->works[n].max_lost = cas->max_lost;
			r->works[n].cpus = choose_cpus(cas, n, &r->cpus[n]);
		}
	}
}

void
roles_keep_one_stream(struct roles *r)
{
	for (; r->n > r->nown; r->n--) {
		json_free(r->v[r->n - 1].config);
		free(r->v[r->n - 1].name);
	}
	for (size_t i = 0; i < r->n; i++) {
		r->works[i] = r->works[r->v[i].first];
		r->v[i].first = i;
		r->v[i].n = 1;
	}
	r->nworks = r->n;
}

struct engine_result *
roles_find_result(const struct role *role, struct engine_result *v)
{
	struct engine_result *all = &v[role->first];

	if (!role->part)
		return all;
	return role->part <= all->nparts ? &all->parts[role->part - 1] : NULL;
}

void
roles_free(struct roles *r)
{
	for (size_t i = 0; i < r->n; i++) {
		json_free(r->v[i].config);
		free(r->v[i].name);
	}
	free(r->v);
	free(r->works);
	free(r->data);
	free(r->cpus);
	mixspec_free(&r->mix);
	*r = (struct roles){0};
}

struct engine_work *
roles_warmup(const struct roles *r, size_t *n)
{
	struct engine_work *v = mem_array(r->nworks + 1, sizeof *v), *w;
	const struct bench_load *l;

	*n = 0;
	for (size_t i = 0; i < r->nown; i++) {
		l = &r->v[i].load;
		if (!l->warmup_apart || l->work.warmup_s <= 0 ||
		    (l->warmup_writes_only && l->phase &&
			strcmp(l->phase, "mixed_read") == 0))
			continue;
		for (size_t k = 0; k < r->v[i].n; k++) {
			w = &v[(*n)++];
			*w = r->works[r->v[i].first + k];
			w->requests = 0;
			w->duration_s = l->work.warmup_s;
			w->seed = make_stream_seed(w->seed, r->nworks);
		}
	}
	return v;
}

/* Adds up requests; percentiles cannot be merged, so they become NAN. */
static void
add_intervals(struct engine_result *to, const struct engine_result *from)
{
	size_t n = to->nintervals > from->nintervals ? to->nintervals
						     : from->nintervals;

	to->intervals = mem_resize(to->intervals, n + 1, sizeof *to->intervals);
	for (size_t i = 0; i < from->nintervals; i++) {
		const struct engine_interval *more = &from->intervals[i];
		struct engine_interval *sum = &to->intervals[i];

		if (i >= to->nintervals) {
			*sum = *more;
			continue;
		}
		sum->requests += more->requests;
		sum->length_s = fmax(sum->length_s, more->length_s);
		sum->at_s = fmax(sum->at_s, more->at_s);
		sum->p50_ms = sum->p99_ms = NAN;
		sum->max_ms = fmax(sum->max_ms, more->max_ms);
		sum->offered_rps += more->offered_rps;
	}
	to->nintervals = n;
}

/* A stream without answers has no hit rate, and does not change the mean. */
static double
merge_hit_rates(const struct engine_result *a, const struct engine_result *b)
{
	double n = (double)a->requests, m = (double)b->requests;

	if (!a->requests)
		return b->requests ? b->hit_rate_percent : NAN;
	if (!b->requests)
		return a->hit_rate_percent;
	return (a->hit_rate_percent * n + b->hit_rate_percent * m) / (n + m);
}

/*
 * Adds one result to another; a value that is NAN in either is NAN in the sum.
 */
static void
add_result(struct engine_result *to, const struct engine_result *from)
{
	to->hit_rate_percent = merge_hit_rates(to, from);
	to->requests += from->requests;
	if (from->start_ns < to->start_ns)
		to->start_ns = from->start_ns;
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
	to->rps += from->rps;
	to->elapsed_s = fmax(to->elapsed_s, from->elapsed_s);
	to->active_s = fmax(to->active_s, from->active_s);
	to->answered += from->answered;
	to->offered_rps += from->offered_rps;
	to->max_backlog += from->max_backlog;
	to->refilled += from->refilled;
	engine_result_add_errors(to, from);
	to->errors_unknown |= from->errors_unknown;
	to->pushes += from->pushes;
	to->connects += from->connects;
	to->resumed += from->resumed;
	if (to->connect && from->connect)
		hist_merge(to->connect, from->connect);
	if (!*to->refusal)
		memcpy(to->refusal, from->refusal, sizeof to->refusal);
	if (to->latency && from->latency)
		hist_merge(to->latency, from->latency);
	if (to->service && from->service)
		hist_merge(to->service, from->service);
	add_intervals(to, from);
	for (size_t i = 0; i < to->nparts && i < from->nparts; i++)
		add_result(&to->parts[i], &from->parts[i]);
}

/* Sets the metrics that are computed from the sum of several results. */
static void
finish_sum(struct engine_result *r)
{
	if (r->active_s <= 0) { /* in slices, other loads come between */
		r->elapsed_s = (double)(r->end_ns - r->start_ns) / 1e9;
		r->rps =
		    r->elapsed_s > 0 ? (double)r->requests / r->elapsed_s : NAN;
	}
}

void
roles_merge(struct engine_result *v, size_t n)
{
	if (n < 2)
		return;
	for (size_t i = 1; i < n; i++) {
		add_result(&v[0], &v[i]);
		engine_result_free(&v[i]);
		v[i] = (struct engine_result){0};
	}
	finish_sum(&v[0]);
	for (size_t i = 0; i < v[0].nparts; i++)
		finish_sum(&v[0].parts[i]);
}
