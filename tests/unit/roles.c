/* Who makes the load of a case, and several streams as one result. */
#include "tap.h"

#include "hist.h"
#include "json.h"
#include "mem.h"
#include "rng.h"
#include "vkb-load/roles.h"

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
	roles_blend(v, STREAMS);
	tap_ok(v[0].requests == 6000, "requests add up");
	tap_near(v[0].elapsed_s, 7.996, 1e-9, "from the first to the last");
	tap_near(v[0].rps, 6000 / 7.996, 1e-9, "so does the rate");
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

	roles_make(&r, cas, 42, 1);
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

int
main(void)
{
	blends();
	plays();
	return tap_done();
}
