/* Who makes the load of a case, and several streams as one result. */
#include "tap.h"

#include "hist.h"
#include "json.h"
#include "mem.h"
#include "rng.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/data/dataset.h"

#include <stdlib.h>

#define STREAMS 3

static struct engine_result
stream(struct rng *r, size_t n, int64_t from, int64_t to, struct hist *all)
{
	struct engine_result e = {.requests = n,
	    .start_ns = from,
	    .end_ns = to,
	    .latency = HIST_LATENCY(),
	    .hit_rate_percent = 50,
	    .nerrors = 1,
	    .errors = {{.kind = "OOM", .count = 2}},
	    .errors_total = 2,
	    .nintervals = n / 1000,
	    .intervals = mem_array(n / 1000 + 1, sizeof *e.intervals)};
	int64_t v;

	for (size_t i = 0; i < n; i++) {
		v = 1000 + (int64_t)rng_below(r, (uint64_t)(to - from));
		hist_add(e.latency, v, 1);
		hist_add(all, v, 1);
	}
	for (size_t i = 0; i < e.nintervals; i++)
		e.intervals[i] = (struct engine_interval){
		    .requests = 1000, .length_s = 1, .p50_ms = 1, .max_ms = 2};
	return e;
}

static void
blends(void)
{
	struct hist *all = HIST_LATENCY();
	struct engine_result v[STREAMS];
	struct rng r;

	rng_seed(&r, 1, 1);
	v[0] = stream(&r, 1000, 5000000, 9000000, all);
	v[1] = stream(&r, 3000, 4000000, 8000000000, all);
	v[2] = stream(&r, 2000, 6000000, 7000000, all);
	roles_merge(v, STREAMS);
	tap_ok(v[0].requests == 6000, "requests add up");
	tap_near(v[0].elapsed_s, 7.996, 1e-9, "from the first to the last");
	tap_near(
	    v[0].rps, 6000 / 7.996, 1e-9, "the rate is that of all streams");
	tap_ok(hist_count(v[0].latency) == 6000, "each latency is there");
	tap_near(v[0].p99_ms, (double)hist_quantile(all, .99) / 1e6, 1e-12,
	    "a percentile is that of all latencies");
	tap_near(v[0].p50_ms, (double)hist_quantile(all, .5) / 1e6, 1e-12,
	    "the median too");
	tap_near(v[0].max_ms, (double)hist_max(all) / 1e6, 1e-12, "the worst");
	tap_ok(v[0].nerrors == 1 && v[0].errors[0].count == 6 &&
		v[0].errors_total == 6,
	    "errors add up by kind");
	tap_ok(v[0].nintervals == 3 && v[0].intervals[0].requests == 3000 &&
		v[0].intervals[2].requests == 1000,
	    "so do the intervals, as far as each goes");
	tap_ok(
	    isnan(v[0].intervals[0].p50_ms), "whose percentiles are not known");
	tap_ok(!v[1].latency && !v[2].latency, "the others are gone");
	hist_free(all);
	engine_result_free(&v[0]);
}

static struct engine_interval
interval(double at, double length, uint64_t n, double max)
{
	return (struct engine_interval){at, length, n, .1, .2, max, 0};
}

static void
hit_rates(void)
{
	struct engine_result v[3] = {{.hit_rate_percent = NAN},
	    {.requests = 10, .hit_rate_percent = 25},
	    {.hit_rate_percent = NAN}};

	roles_merge(v, 3);
	tap_near(v[0].hit_rate_percent, 25, 1e-12,
	    "a stream without answers leaves the hit rate of the others");
	engine_result_free(&v[0]);
}

/* Two streams whose numbers differ in each field. */
static void
sums(void)
{
	struct engine_result v[2] = {{.requests = 100,
					 .hit_rate_percent = 50,
					 .start_ns = 10,
					 .end_ns = 30,
					 .offered_rps = 1,
					 .max_backlog = 2,
					 .refilled = 3,
					 .refused = 4,
					 .lost = 5,
					 .unanswered = 6,
					 .reconnects = 7,
					 .pushes = 8,
					 .errors_total = 9,
					 .nerrors = 1,
					 .errors = {{.kind = "a", .count = 9}}},
	    {.requests = 300,
		.hit_rate_percent = 90,
		.start_ns = 20,
		.end_ns = 50,
		.offered_rps = 10,
		.max_backlog = 20,
		.refilled = 30,
		.refused = 40,
		.refusal = "ERR second",
		.lost = 50,
		.unanswered = 60,
		.reconnects = 70,
		.pushes = 80,
		.errors_total = 90,
		.errors_unknown = true,
		.nerrors = 2,
		.errors = {
		    {.kind = "b", .count = 80}, {.kind = "a", .count = 10}}}};

	for (size_t i = 0; i < 2; i++)
		v[i].intervals = mem_array(3, sizeof *v[i].intervals);
	v[0].nintervals = 1;
	v[0].intervals[0] = interval(1, .9, 10, 7);
	v[1].nintervals = 2;
	v[1].intervals[0] = interval(1.1, .8, 20, 6);
	v[1].intervals[1] = interval(2, .7, 30, 5);
	v[0].latency = HIST_LATENCY();
	v[0].service = HIST_LATENCY();
	v[1].service = HIST_LATENCY();
	v[1].latency = HIST_LATENCY();
	for (int64_t i = 1; i <= 1000; i++)
		hist_add(v[i & 1].latency, i * 1000000, 1);
	hist_add(v[1].service, 5000, 3);
	roles_merge(v, 2);
	tap_near(v[0].hit_rate_percent, 80, 1e-12,
	    "each stream's hits count by its requests");
	tap_ok(v[0].start_ns == 10 && v[0].end_ns == 50,
	    "it begins with the first and ends with the last");
	tap_near(v[0].elapsed_s, 40e-9, 1e-12, "that is how long it took");
	tap_near(v[0].rps, 400 / 40e-9, 1e-12, "the rate follows from it");
	tap_ok(v[0].offered_rps == 11 && v[0].max_backlog == 22 &&
		v[0].refilled == 33 && v[0].refused == 44,
	    "what was offered, waited, refilled and refused adds up");
	tap_ok(v[0].lost == 55 && v[0].unanswered == 66 &&
		v[0].reconnects == 77 && v[0].pushes == 88 &&
		v[0].errors_total == 99 && v[0].errors_unknown,
	    "so do losses and errors; unknown of one is unknown of both");
	tap_ok(v[0].nerrors == 2 && v[0].errors[0].count == 19 &&
		strcmp(v[0].errors[1].kind, "b") == 0 &&
		v[0].errors[1].count == 80,
	    "a kind that only one has seen is listed behind");
	tap_str(v[0].refusal, "ERR second", "the first refusal is kept");
	tap_ok(v[0].nintervals == 2 && v[0].intervals[0].requests == 30 &&
		v[0].intervals[0].at_s == 1.1 &&
		v[0].intervals[0].length_s == .9 &&
		v[0].intervals[0].max_ms == 7 &&
		isnan(v[0].intervals[0].p50_ms) &&
		isnan(v[0].intervals[0].p99_ms),
	    "an interval of both has the longer time and the worse latency");
	tap_ok(v[0].intervals[1].requests == 30 &&
		v[0].intervals[1].at_s == 2 && v[0].intervals[1].p50_ms == .1 &&
		v[0].intervals[1].p99_ms == .2,
	    "one that only the second has is taken as it is");
	/* 1 to 1000 ms, in buckets of less than 1 %. */
	tap_near(v[0].avg_ms, 500.5, .01, "the mean of all latencies");
	tap_near(v[0].min_ms, 1, .01, "the least of them");
	tap_near(v[0].p50_ms, 500, .01, "their median");
	tap_near(v[0].p95_ms, 950, .003, "their 95th percentile");
	tap_near(v[0].p99_ms, 990, .003, "their 99th percentile");
	tap_near(v[0].p999_ms, 999, .003, "their 99.9th percentile");
	tap_near(v[0].max_ms, 1000, .01, "the largest of them");
	tap_ok(hist_count(v[0].service) == 3, "service times add up as well");
	engine_result_free(&v[0]);
}

/* A table of errors is full: what is new counts in its last row. */
static void
overflow(void)
{
	struct engine_result v[2] = {{0}};

	v[0].nerrors = ENGINE_ERRORS;
	for (int i = 0; i < ENGINE_ERRORS; i++) {
		snprintf(v[0].errors[i].kind, sizeof v[0].errors[i].kind,
		    "kind %d", i);
		v[0].errors[i].count = 1;
	}
	v[1].nerrors = 1;
	v[1].errors[0] = (struct engine_error){.kind = "another", .count = 41};
	roles_merge(v, 2);
	tap_ok(v[0].nerrors == ENGINE_ERRORS &&
		v[0].errors[ENGINE_ERRORS - 1].count == 42 &&
		v[0].errors[ENGINE_ERRORS - 2].count == 1,
	    "one kind too many counts with the last one");
	tap_ok(isnan(v[0].hit_rate_percent) && isnan(v[0].rps),
	    "without requests and time there is no rate");
	engine_result_free(&v[0]);
}

/* What the roles borrow is of the record, not of the case. */
static void
make_roles(
    struct roles *r, const struct json *record, uint64_t seed, double timeout_s)
{
	struct bench_case c;

	bench_case_fill(&c, record);
	roles_make(r, &c, seed, timeout_s);
	bench_case_free(&c);
}

static void
plays(void)
{
	static const char text[] =
	    "{\"config\":{\"test_id\":\"g_m\",\"command\":\"mixed\","
	    "\"duration_s\":9,\"pipeline\":1,\"clients\":1,\"rate\":30,"
	    "\"cluster_mode\":true,\"cluster_nodes\":3,\"warmup_s\":2,"
	    "\"warmup_apart\":true,\"warmup_writes_only\":true,"
	    "\"writes\":[{\"id\":\"w\",\"command\":\"SET a b\","
	    "\"requests\":7}],\"reads\":[{\"id\":\"r\",\"command\":\"GET\","
	    "\"clients\":4,\"duration\":5,\"cluster_execution\":"
	    "\"parallel\"}]},\"client\":{\"each\":[\"0\",\"1\"]}}";
	struct json *cas = json_parse(text, sizeof text - 1, NULL, NULL);
	struct engine_work *warm;
	struct roles r;
	size_t n;

	make_roles(&r, cas, 42, 1);
	if (!tap_ok(r.n == 2 && r.nworks == 4, "a writer, three readers"))
		goto out;
	tap_str(json_get_str(r.v[0].config, "test_id"), "g_m_write_w", "id");
	tap_str(json_get_str(r.v[1].config, "test_id"), "g_m_read_r", "id");
	tap_ok(r.works[0].requests == 7 && r.works[0].duration_s == 0,
	    "the writer has so many requests");
	tap_ok(r.works[1].duration_s == 5 && !r.works[1].requests,
	    "the readers a time");
	/* One connection writes, three times four read. */
	tap_near(r.works[0].rate, 30.0 / 13, 1e-9, "a rate is shared");
	tap_near(r.works[1].rate, 30.0 * 4 / 13, 1e-9, "as connections are");
	tap_near(r.works[0].rate + r.works[1].rate + r.works[2].rate +
		r.works[3].rate,
	    30, 1e-9, "and all of it is given out");
	tap_near(json_get_num(r.v[1].config, "rate", 0), 30.0 * 12 / 13, 1e-9,
	    "the config of a part says its share");
	tap_ok(r.works[0].text && !r.works[1].text, "a template, a test");
	tap_ok(r.works[0].seed == 42 && r.works[1].seed != r.works[2].seed &&
		r.works[3].seed != r.works[2].seed,
	    "each has a seed");
	tap_ok(r.works[2].cpus && CPU_ISSET(0, r.works[2].cpus) &&
		CPU_ISSET(1, r.works[3].cpus),
	    "and its CPUs");
	tap_ok(r.works[0].warmup_s == 0, "the warm-up is apart");
	warm = roles_warmup(&r, &n);
	tap_ok(n == 1 && warm[0].duration_s == 2 && !warm[0].requests,
	    "of the writer alone");
	free(warm);
out:
	roles_free(&r);
	json_free(cas);
}

/* Each field of the work against the key of the config it comes from. */
static void
fields(void)
{
	static const char text[] =
	    "{\"config\":{\"command\":\"GET\",\"dataset\":\"d.xml\","
	    "\"xml_root_element\":\"page\",\"maxdocs\":2,\"data_size\":3000,"
	    "\"keyspacelen\":4,\"pipeline\":5,\"clients\":6,"
	    "\"benchmark_threads\":7,\"requests\":8,\"warmup_s\":9,"
	    "\"sequential\":true,\"resp3\":true,\"rate\":10,"
	    "\"reconnect\":13,\"storm_s\":1.4,\"tracking\":\"bcast\","
	    "\"latency\":\"batch-first-byte\",\"arrivals\":\"poisson\"},"
	    "\"client\":{\"cpus\":\"0\"}}";
	static const char plain[] =
	    "{\"config\":{\"command\":\"GET\",\"latency\":\"request\","
	    "\"arrivals\":\"constant\",\"duration_s\":1.5}}";
	struct json *cas = json_parse(text, sizeof text - 1, NULL, NULL);
	const struct engine_work *w;
	struct roles r;

	make_roles(&r, cas, 11, 12);
	w = r.works;
	tap_ok(r.n == 1 && r.nworks == 1, "a plain case is one stream");
	tap_str(w->command, "GET", "its command");
	tap_str(w->data->path, "d.xml", "its dataset");
	tap_str(w->data->xml_element, "page", "the element of that");
	tap_ok(!w->text && w->data->maxdocs == 2 && w->data_size == 3000 &&
		w->keyspacelen == 4 && w->pipeline == 5 && w->clients == 6 &&
		w->threads == 7 && w->requests == 8 && w->duration_s == 0 &&
		w->warmup_s == 9 && w->rate == 10 && w->seed == 11 &&
		w->timeout_s == 12,
	    "each number is the one of its key");
	tap_ok(w->sequential && w->resp3 && w->batch_first_byte &&
		w->arrivals == ENGINE_POISSON && w->cpus &&
		CPU_COUNT(w->cpus) == 1 && CPU_ISSET(0, w->cpus),
	    "each choice is the one of its key");
	tap_ok(w->conns.reconnect == 13 && w->conns.storm_s == 1.4 &&
		w->conns.tracking && w->conns.bcast && !w->conns.replicas,
	    "so is what its connections do");
	roles_free(&r);
	json_free(cas);
	cas = json_parse(plain, sizeof plain - 1, NULL, NULL);
	make_roles(&r, cas, 0, 0);
	w = r.works;
	tap_ok(w->data->maxdocs == 0 && w->data_size == 3 &&
		w->keyspacelen == 0 && w->pipeline == 1 && w->clients == 1 &&
		w->threads == 1 && w->requests == 0 && w->duration_s == 1.5 &&
		w->warmup_s == 0 && w->rate == 0 && !w->sequential &&
		!w->resp3 && !w->batch_first_byte &&
		w->arrivals == ENGINE_CONSTANT && !w->cpus && !w->data->path &&
		!w->data->xml_element,
	    "what a config does not say is the least there is");
	roles_free(&r);
	json_free(cas);
}

/* A part has its own values; what it has not is the scenario's, but clients. */
static void
parts(void)
{
	static const char text[] =
	    "{\"config\":{\"command\":\"mixed\",\"duration_s\":9,"
	    "\"pipeline\":2,\"clients\":50,\"data_size\":16,\"warmup_s\":4,"
	    "\"writes\":[{\"command\":\"SET a b\",\"dataset\":\"d\","
	    "\"maxdocs\":70,\"pipeline\":3,\"data_size\":5,\"seed\":77,"
	    "\"xml_root_element\":\"x\",\"sequential\":true,\"warmup\":6,"
	    "\"parallel_clients\":2}],"
	    "\"reads\":[{\"id\":\"r\",\"command\":\"GET\",\"duration\":5},"
	    "{\"id\":\"s\",\"command\":\"GET\"},"
	    "{\"id\":\"t\",\"command\":\"GET\",\"duration\":3,"
	    "\"requests\":20,\"cluster_execution\":\"parallel\"}]}}";
	struct json *cas = json_parse(text, sizeof text - 1, NULL, NULL);
	const struct engine_work *w;
	struct engine_work *warm;
	struct roles r;
	size_t n;

	make_roles(&r, cas, 42, 1);
	if (!tap_ok(r.n == 4 && r.nworks == 5, "two writers, three readers"))
		goto out;
	w = r.works;
	tap_str(json_get_str(r.v[0].config, "test_id"), "mixed_write_unknown",
	    "a part without an id has a name all the same");
	tap_str(json_get_str(r.v[0].config, "test_phase"), "mixed_write",
	    "a writer is in the phase of writes");
	tap_str(json_get_str(r.v[3].config, "test_phase"), "mixed_read",
	    "a reader in that of reads");
	tap_ok(!json_get(r.v[0].config, "writes") &&
		!json_get(r.v[0].config, "reads"),
	    "a part has no parts");
	tap_ok(w[0].requests == 70 && w[0].duration_s == 0 &&
		w[0].data->maxdocs == 70 && w[0].pipeline == 3 &&
		w[0].data_size == 5 && w[0].sequential && w[0].clients == 1,
	    "a writer with so many rows ends with them");
	tap_str(w[1].data->path, "d", "its second client has its rows");
	tap_str(w[1].data->xml_element, "x", "and their element");
	tap_ok(w[0].seed == 77 && w[1].seed != 77 && w[2].seed != 42,
	    "a part may have a seed of its own");
	tap_ok(w[2].duration_s == 5 && w[3].duration_s == 5 &&
		w[2].pipeline == 2 && w[2].data_size == 16 &&
		w[2].clients == 1 && w[2].requests == 0,
	    "those with a time share the shortest of them");
	tap_ok(w[4].requests == 20 && w[4].duration_s == 0,
	    "requests count before a time");
	tap_ok(r.v[0].first == 0 && r.v[0].n == 2 && r.v[1].first == 2 &&
		r.v[3].first == 4 && r.v[3].n == 1,
	    "each part knows its streams; parallel needs a cluster");
	warm = roles_warmup(&r, &n);
	tap_ok(n == 2 && warm[0].duration_s == 6 && warm[1].duration_s == 6 &&
		warm[0].requests == 0 && warm[0].seed != w[0].seed &&
		warm[0].seed != warm[1].seed,
	    "a warm-up of its own has other seeds, and its own time");
	tap_ok(w[0].warmup_s == 0 && w[2].warmup_s == 4,
	    "the others warm up within their run");
	free(warm);
out:
	roles_free(&r);
	json_free(cas);
}

int
main(void)
{
	blends();
	hit_rates();
	sums();
	overflow();
	plays();
	fields();
	parts();
	return tap_done();
}
