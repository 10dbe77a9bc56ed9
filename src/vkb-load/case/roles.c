#include "roles.h"
#include "cpulist.h"
#include "json.h"
#include "mem.h"
#include "rng.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/command.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Turns the config of a mixed case into that of one of its parts. */
static void
set_part_config(struct json *c, const struct json *part, const char *side)
{
	static const struct {
		const char *part, *config;
	} keys[] = {{"command", "command"}, {"dataset", "dataset"},
	    {"xml_root_element", "xml_root_element"}, {"maxdocs", "maxdocs"},
	    {"clients", "clients"}, {"pipeline", "pipeline"},
	    {"data_size", "data_size"}, {"sequential", "sequential"},
	    {"cluster_execution", "cluster_execution"},
	    {"parallel_clients", "parallel_clients"}};
	const char *test = json_get_str(c, "test_id");
	const char *id = json_get_str(part, "id");
	const struct json *requests = json_get(part, "requests"), *v;
	const struct json *warmup = json_get(part, "warmup");
	bool writes = strcmp(side, "writes") == 0;
	char *name;

	name = mem_printf("%s_%s_%s", test ? test : "mixed",
	    writes ? "write" : "read", id ? id : "unknown");
	json_set_str(c, "test_id", name);
	free(name);
	json_set_str(c, "test_phase", writes ? "mixed_write" : "mixed_read");
	json_set_num(c, "clients", 1);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if ((v = json_get(part, keys[i].part)))
			json_set(c, keys[i].config, json_dup(v));
	if (warmup) {
		json_set(c, "warmup_s", json_dup(warmup));
		json_set_bool(c, "warmup_apart", true);
	}
	if (!requests)
		requests = json_get(part, "maxdocs");
	v = json_get(part, "duration");
	if (json_get(part, "requests") || (!v && requests)) {
		json_del(c, "duration_s");
		json_set(c, "requests", json_dup(requests));
	} else if (v) {
		json_del(c, "requests");
		json_set(c, "duration_s", json_dup(v));
	}
}

static void
add_role(struct roles *r, struct json *config, const struct json *seed)
{
	r->v[r->n].config = config;
	r->v[r->n++].seed = seed;
}

static void
add_parts(struct roles *r, const struct json *config, const char *side)
{
	const struct json *part = json_first(json_get(config, side));
	const struct json *seed;
	struct json *c;

	for (; part; part = json_next(part)) {
		c = json_dup(config);
		json_del(c, "writes");
		json_del(c, "reads");
		set_part_config(c, part, side);
		seed = json_get(part, "seed");
		add_role(
		    r, c, seed && json_type(seed) == JSON_NUMBER ? seed : NULL);
	}
}

/* All parts run for the shortest of their durations. */
static void
set_common_duration(struct roles *r)
{
	double least = 0, d;

	for (size_t i = 0; i < r->n; i++) {
		d = json_get_num(r->v[i].config, "duration_s", 0);
		if (d > 0 && (least <= 0 || d < least))
			least = d;
	}
	for (size_t i = 0; i < r->n; i++)
		if (json_get(r->v[i].config, "duration_s"))
			json_set_num(r->v[i].config, "duration_s", least);
}

/* Returns the number of parallel clients of a role. */
static size_t
count_streams(const struct json *c)
{
	const char *how = json_get_str(c, "cluster_execution");
	double n = json_get_num(c, "parallel_clients", 0);

	if (n >= 1)
		return (size_t)n;
	if (how && strcmp(how, "parallel") == 0 &&
	    json_get_bool(c, "cluster_mode", false))
		return (size_t)json_get_num(c, "cluster_nodes", 1);
	return 1;
}

/*
 * Shares the rate of a mixed scenario among its parts, in proportion to their
 * connections.
 */
static void
share_rate(struct roles *r)
{
	double all = 0, *n = mem_array(r->n + 1, sizeof *n), rate;

	for (size_t i = 0; i < r->n; i++) {
		n[i] = json_get_num(r->v[i].config, "clients", 1) *
		    (double)r->v[i].n;
		all += n[i];
	}
	for (size_t i = 0; i < r->n && r->n > 1; i++) {
		rate = json_get_num(r->v[i].config, "rate", 0);
		if (rate > 0)
			json_set_num(r->v[i].config, "rate", rate * n[i] / all);
	}
	free(n);
}

/* Returns the CPUs of the i-th stream, in *to, or NULL if none are given. */
static const cpu_set_t *
choose_cpus(const struct json *cas, size_t i, cpu_set_t *to)
{
	const struct json *each = json_path(cas, "client.each");
	const struct json *all = json_path(cas, "client.cpus");
	const char *why;

	if (json_len(each))
		all = json_at(each, i % json_len(each));
	return all && cpulist_parse(json_str(all), to, &why) == 0 ? to : NULL;
}

static struct engine_work
make_work(const struct json *c, size_t share)
{
	const char *latency = json_get_str(c, "latency");
	const char *arrivals = json_get_str(c, "arrivals");
	const char *command = json_get_str(c, "command");
	bool named = command_known(command);
	struct engine_work w = {.command = command,
	    .text = named ? NULL : command,
	    .data_size = (long long)json_get_num(c, "data_size", 3),
	    .keyspacelen = (long long)json_get_num(c, "keyspacelen", 0),
	    .pipeline = (int)json_get_num(c, "pipeline", 1),
	    .clients = (int)json_get_num(c, "clients", 1),
	    .threads = (int)json_get_num(c, "benchmark_threads", 1),
	    .requests = (long long)json_get_num(c, "requests", 0),
	    .duration_s = json_get_num(c, "duration_s", 0),
	    .warmup_s = json_get_num(c, "warmup_s", 0),
	    .sequential = json_get_bool(c, "sequential", false),
	    .resp3 = json_get_bool(c, "resp3", false),
	    .rate = json_get_num(c, "rate", 0) / (double)share};

	if (json_get_bool(c, "warmup_apart", false))
		w.warmup_s = 0;
	w.batch_first_byte = latency && strcmp(latency, "request") != 0;
	if (arrivals && strcmp(arrivals, "poisson") == 0)
		w.arrivals = ENGINE_POISSON;
	return w;
}

static struct dataset_want
make_dataset_want(const struct json *c)
{
	return (struct dataset_want){.path = json_get_str(c, "dataset"),
	    .xml_element = json_get_str(c, "xml_root_element"),
	    .maxdocs = (long long)json_get_num(c, "maxdocs", 0)};
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
roles_make(
    struct roles *r, const struct json *cas, uint64_t seed, double timeout_s)
{
	const struct json *c = json_get(cas, "config");
	size_t most, n = 0;

	*r = (struct roles){0};
	most = json_len(json_get(c, "writes")) + json_len(json_get(c, "reads"));
	r->v = mem_array(most + 1, sizeof *r->v);
	if (most) {
		add_parts(r, c, "writes");
		add_parts(r, c, "reads");
	} else
		add_role(r, json_dup(c), NULL);
	set_common_duration(r);
	for (size_t i = 0; i < r->n; i++) {
		r->v[i].first = r->nworks;
		r->v[i].n = count_streams(r->v[i].config);
		r->nworks += r->v[i].n;
	}
	share_rate(r);
	r->works = mem_array(r->nworks + 1, sizeof *r->works);
	r->data = mem_array(r->nworks + 1, sizeof *r->data);
	r->cpus = mem_array(r->nworks + 1, sizeof *r->cpus);
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->v[i].n; k++, n++) {
			r->works[n] = make_work(r->v[i].config, r->v[i].n);
			r->data[n] = make_dataset_want(r->v[i].config);
			r->works[n].data = &r->data[n];
			r->works[n].seed = r->v[i].seed
			    ? make_stream_seed(
				  (uint64_t)json_num(r->v[i].seed, 0), k)
			    : make_stream_seed(seed, n);
			r->works[n].timeout_s = timeout_s;
			r->works[n].cpus = choose_cpus(cas, n, &r->cpus[n]);
		}
}

void
roles_free(struct roles *r)
{
	for (size_t i = 0; i < r->n; i++)
		json_free(r->v[i].config);
	free(r->v);
	free(r->works);
	free(r->data);
	free(r->cpus);
	*r = (struct roles){0};
}

struct engine_work *
roles_warmup(const struct roles *r, size_t *n)
{
	struct engine_work *v = mem_array(r->nworks + 1, sizeof *v), *w;
	const struct json *c;
	const char *phase;
	double s;

	*n = 0;
	for (size_t i = 0; i < r->n; i++) {
		c = r->v[i].config;
		s = json_get_num(c, "warmup_s", 0);
		phase = json_get_str(c, "test_phase");
		if (!json_get_bool(c, "warmup_apart", false) || s <= 0 ||
		    (json_get_bool(c, "warmup_writes_only", false) && phase &&
			strcmp(phase, "mixed_read") == 0))
			continue;
		for (size_t k = 0; k < r->v[i].n; k++) {
			w = &v[(*n)++];
			*w = r->works[r->v[i].first + k];
			w->requests = 0;
			w->duration_s = s;
			w->seed = make_stream_seed(w->seed, r->nworks);
		}
	}
	return v;
}
