/* The streams that make the load of a case, and their results as one. */
#include "tap.h"

#include "hist.h"
#include "json.h"
#include "mem.h"
#include "rng.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/command.h"

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
	tap_ok(v[0].requests == 6000, "requests are summed");
	tap_near(v[0].elapsed_s, 7.996, 1e-9,
	    "the time is from the first start to the last end");
	tap_near(
	    v[0].rps, 6000 / 7.996, 1e-9, "the rate is that of all streams");
	tap_ok(hist_count(v[0].latency) == 6000 &&
		hist_quantile(v[0].latency, .99) == hist_quantile(all, .99) &&
		hist_max(v[0].latency) == hist_max(all),
	    "all latencies are merged");
	tap_ok(v[0].nerrors == 1 && v[0].errors[0].count == 6 &&
		v[0].errors_total == 6,
	    "errors are summed by kind");
	tap_ok(v[0].nintervals == 3 && v[0].intervals[0].requests == 3000 &&
		v[0].intervals[2].requests == 1000,
	    "intervals are summed, the longest stream has the last ones");
	tap_ok(isnan(v[0].intervals[0].p50_ms),
	    "percentiles of summed intervals are unknown");
	tap_ok(!v[1].latency && !v[2].latency, "the other results are freed");
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
	    "a stream without answers does not change the hit rate");
	engine_result_free(&v[0]);
}

/* Two streams with a different number in each field. */
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
	    "hit rates are weighted by requests");
	tap_ok(v[0].start_ns == 10 && v[0].end_ns == 50,
	    "the result begins with the first stream and ends with the last");
	tap_near(v[0].elapsed_s, 40e-9, 1e-12,
	    "its elapsed time is between the two");
	tap_near(v[0].rps, 400 / 40e-9, 1e-12,
	    "its rate is its requests by this time");
	tap_ok(v[0].offered_rps == 11 && v[0].max_backlog == 22 &&
		v[0].refilled == 33 && v[0].refused == 44,
	    "offered rate, backlog, refills and refusals are summed");
	tap_ok(v[0].lost == 55 && v[0].unanswered == 66 &&
		v[0].reconnects == 77 && v[0].pushes == 88 &&
		v[0].errors_total == 99 && v[0].errors_unknown,
	    "losses and errors are summed; if one is unknown, so is the sum");
	tap_ok(v[0].nerrors == 2 && v[0].errors[0].count == 19 &&
		strcmp(v[0].errors[1].kind, "b") == 0 &&
		v[0].errors[1].count == 80,
	    "a kind of errors of the second stream is appended");
	tap_str(v[0].refusal, "ERR second", "the first refusal is kept");
	tap_ok(v[0].nintervals == 2 && v[0].intervals[0].requests == 30 &&
		v[0].intervals[0].at_s == 1.1 &&
		v[0].intervals[0].length_s == .9 &&
		v[0].intervals[0].max_ms == 7 &&
		isnan(v[0].intervals[0].p50_ms) &&
		isnan(v[0].intervals[0].p99_ms),
	    "a summed interval has the later end and the larger latency");
	tap_ok(v[0].intervals[1].requests == 30 &&
		v[0].intervals[1].at_s == 2 && v[0].intervals[1].p50_ms == .1 &&
		v[0].intervals[1].p99_ms == .2,
	    "an interval of the second stream alone is copied");
	/* 1 to 1000 ms, in buckets of less than 1 %. */
	tap_ok(hist_count(v[0].latency) == 1000, "latencies are merged");
	tap_near(hist_mean(v[0].latency) / 1e6, 500.5, .01,
	    "the mean is that of all latencies");
	tap_ok(hist_count(v[0].service) == 3, "service times are merged");
	engine_result_free(&v[0]);
}

/* A full table of errors, whose last row is of others: new kinds are counted
 * there. */
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
	strcpy(v[0].errors[ENGINE_ERRORS - 1].kind, "other");
	v[1].nerrors = 1;
	v[1].errors[0] = (struct engine_error){.kind = "another", .count = 41};
	roles_merge(v, 2);
	tap_ok(v[0].nerrors == ENGINE_ERRORS &&
		v[0].errors[ENGINE_ERRORS - 1].count == 42 &&
		v[0].errors[ENGINE_ERRORS - 2].count == 1,
	    "a new kind is counted in the last row");
	tap_ok(isnan(v[0].hit_rate_percent) && isnan(v[0].rps),
	    "without requests and time there is no rate");
	engine_result_free(&v[0]);
}

/* The strings of roles belong to the record: the case may be freed. */
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
	if (!tap_ok(r.n == 2 && r.nworks == 4,
		"there are a writer and three readers"))
		goto out;
	tap_str(json_get_str(r.v[0].config, "test_id"), "g_m_write_w", "id");
	tap_str(json_get_str(r.v[1].config, "test_id"), "g_m_read_r", "id");
	tap_ok(r.works[0].requests == 7 && r.works[0].duration_s == 0,
	    "the writer has a number of requests");
	tap_ok(r.works[1].duration_s == 5 && !r.works[1].requests,
	    "the readers have a duration");
	/* One connection writes, three readers have four each. */
	tap_near(r.works[0].rate, 30.0 / 13, 1e-9,
	    "the writer has its share of the rate, by connections");
	tap_near(r.works[1].rate, 30.0 * 4 / 13, 1e-9,
	    "a reader has its share of the rate");
	tap_near(r.works[0].rate + r.works[1].rate + r.works[2].rate +
		r.works[3].rate,
	    30, 1e-9, "the shares add up to the rate");
	tap_near(json_get_num(r.v[1].config, "rate", 0), 30.0 * 12 / 13, 1e-9,
	    "the configuration of a part has its share");
	tap_ok(!command_known(r.works[0].command) &&
		command_known(r.works[1].command),
	    "the writer has a template, a reader has a test");
	tap_ok(r.works[0].seed == 42 && r.works[1].seed != r.works[2].seed &&
		r.works[3].seed != r.works[2].seed,
	    "all streams have different seeds");
	tap_ok(r.works[2].cpus && CPU_ISSET(0, r.works[2].cpus) &&
		CPU_ISSET(1, r.works[3].cpus),
	    "readers have their own CPUs");
	tap_ok(r.works[0].warmup_s == 0, "the warm-up is not part of the run");
	warm = roles_warmup(&r, &n);
	tap_ok(n == 1 && warm[0].duration_s == 2 && !warm[0].requests,
	    "the warm-up is that of the writer");
	free(warm);
out:
	roles_free(&r);
	json_free(cas);
}

/* Each field of the work has the value of its key of the configuration. */
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
	tap_ok(r.n == 1 && r.nworks == 1, "a case without parts is one stream");
	tap_str(w->command, "GET", "it has the command");
	tap_str(w->data->path, "d.xml", "it has the dataset");
	tap_str(
	    w->data->xml_element, "page", "it has the element of the dataset");
	tap_ok(w->data->maxdocs == 2 && w->data_size == 3000 &&
		w->keyspacelen == 4 && w->pipeline == 5 && w->clients == 6 &&
		w->threads == 7 && w->requests == 8 && w->duration_s == 0 &&
		w->warmup_s == 9 && w->rate == 10 && w->seed == 11 &&
		w->timeout_s == 12,
	    "the numbers are those of their keys");
	tap_ok(engine_is_ordered(w) && w->resp3 && w->batch_first_byte &&
		w->arrivals == ENGINE_POISSON && w->cpus &&
		CPU_COUNT(w->cpus) == 1 && CPU_ISSET(0, w->cpus),
	    "the choices are those of their keys");
	tap_ok(w->conns.reconnect == 13 && w->conns.storm_s == 1.4 &&
		w->conns.tracking && w->conns.bcast && !w->conns.replicas,
	    "the settings of connections are those of their keys");
	roles_free(&r);
	json_free(cas);
	cas = json_parse(plain, sizeof plain - 1, NULL, NULL);
	make_roles(&r, cas, 0, 0);
	w = r.works;
	tap_ok(w->data->maxdocs == 0 && w->data_size == 3 &&
		w->keyspacelen == 0 && w->pipeline == 1 && w->clients == 1 &&
		w->threads == 1 && w->requests == 0 && w->duration_s == 1.5 &&
		w->warmup_s == 0 && w->rate == 0 && !engine_is_ordered(w) &&
		!w->resp3 && !w->batch_first_byte &&
		w->arrivals == ENGINE_CONSTANT && !w->cpus && !w->data->path &&
		!w->data->xml_element,
	    "what a configuration does not set is 0");
	roles_free(&r);
	json_free(cas);
}

/* A part has its own settings and, except for clients, those of the scenario
 * that it does not set. */
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
	if (!tap_ok(r.n == 4 && r.nworks == 5,
		"there are two writers and three readers"))
		goto out;
	w = r.works;
	tap_str(json_get_str(r.v[0].config, "test_id"), "mixed_write_unknown",
	    "a part without an id has a name, too");
	tap_str(json_get_str(r.v[0].config, "test_phase"), "mixed_write",
	    "a writer has the phase of writes");
	tap_str(json_get_str(r.v[3].config, "test_phase"), "mixed_read",
	    "a reader has the phase of reads");
	tap_ok(!json_get(r.v[0].config, "writes") &&
		!json_get(r.v[0].config, "reads"),
	    "the configuration of a part has no parts");
	tap_ok(w[0].requests == 70 && w[0].duration_s == 0 &&
		w[0].data->maxdocs == 70 && w[0].pipeline == 3 &&
		w[0].data_size == 5 && engine_is_ordered(&w[0]) &&
		w[0].clients == 1,
	    "a writer with a number of rows writes so many");
	tap_str(w[1].data->path, "d", "its second client has the same dataset");
	tap_str(w[1].data->xml_element, "x",
	    "its second client has the same element");
	tap_ok(w[0].seed == 77 && w[1].seed != 77 && w[2].seed != 42,
	    "a part may set its seed");
	tap_ok(w[2].duration_s == 5 && w[3].duration_s == 5 &&
		w[2].pipeline == 2 && w[2].data_size == 16 &&
		w[2].clients == 1 && w[2].requests == 0,
	    "parts with a duration have the shortest of them");
	tap_ok(w[4].requests == 20 && w[4].duration_s == 0,
	    "a number of requests replaces a duration");
	tap_ok(r.v[0].first == 0 && r.v[0].n == 2 && r.v[1].first == 2 &&
		r.v[3].first == 4 && r.v[3].n == 1,
	    "each part has its streams; 'parallel' needs a cluster");
	warm = roles_warmup(&r, &n);
	tap_ok(n == 2 && warm[0].duration_s == 6 && warm[1].duration_s == 6 &&
		warm[0].requests == 0 && warm[0].seed != w[0].seed &&
		warm[0].seed != warm[1].seed,
	    "a separate warm-up has other seeds, and its own duration");
	tap_ok(w[0].warmup_s == 0 && w[2].warmup_s == 4,
	    "other parts warm up within their run");
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
