/* Parts of a run that are joined: their histogram equals that of all values,
 * cell by cell. */
#include "parts.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "rng.h"
#include "str.h"
#include "tap.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 3
#define VALUES 20000

static struct json *
make_part(int i, struct hist *all, struct rng *rng)
{
	struct hist *h = HIST_LATENCY();
	struct str text = {0}, s = {0};
	struct json *rec;
	const char *why;
	int64_t v;

	for (int k = 0; k < VALUES * (i + 1); k++) {
		v = (int64_t)(1e5 * rng_exponential(rng)) + 70;
		hist_add(h, v, 1);
		hist_add(all, v, 1);
	}
	histcodec_encode(&text, h);
	hist_free(h);
	str_printf(&s,
	    "{\"type\":\"part\",\"v\":1,\"subject\":{},\"config\":"
	    "{\"duration_s\":1},\"run\":{\"session\":\"s\",\"index\":1,"
	    "\"order\":1,\"part\":{\"i\":%d,\"n\":%d,\"begin_us\":%d,"
	    "\"end_us\":%d}},\"metrics\":{\"rps\":%d,\"requests\":%d,"
	    "\"errors\":%d,\"server_cpu_us_per_req\":%g,"
	    "\"client_cpu_us_per_req\":%d},\"hist\":{\"latency_ns\":\"%s\"},"
	    "\"series\":{\"at_s\":[1,2,%d],\"rps\":[%d,10,7],"
	    "\"p99_latency_ms\":[1,2,3]},\"errors\":{\"OOM\":%d},"
	    "\"bound\":\"%s\",\"status\":\"ok\"}",
	    i + 1, PARTS, 1000000 + i, 2000000 + i, 100 * (i + 1),
	    VALUES * (i + 1), i, 6.0 / (i + 1), i + 1, text.s, 3 + i, i + 1, i,
	    i == 1 ? "client" : "server");
	rec = json_parse(s.s, s.len, &why, NULL);
	str_free(&s);
	str_free(&text);
	return rec;
}

static int
is_equal(const struct hist *a, const struct hist *b)
{
	size_t i = 0, k = 0;
	int64_t low, high, low2, high2;
	uint64_t n, m;

	while (hist_cell(a, &i, &low, &high, &n))
		if (!hist_cell(b, &k, &low2, &high2, &m) || low != low2 ||
		    high != high2 || n != m)
			return 0;
	return !hist_cell(b, &k, &low2, &high2, &m);
}

static double
get(const struct json *run, const char *path)
{
	return json_num(json_path(run, path), NAN);
}

int
main(void)
{
	struct hist *all = HIST_LATENCY(), *h;
	struct parts *p = parts_new();
	struct json *v[PARTS], *run = NULL;
	const char *text, *why;
	struct rng rng;
	int early = 0;

	rng_seed(&rng, 7, 1);
	for (int i = 0; i < PARTS; i++)
		v[i] = make_part(i, all, &rng);
	early += parts_add(p, json_dup(v[2])) != NULL;
	early += parts_add(p, json_dup(v[2])) != NULL;
	early += parts_add(p, json_dup(v[0])) != NULL;
	run = parts_add(p, json_dup(v[1]));
	tap_ok(!early && run, "the part that was missing completes the run");
	tap_ok(parts_add(p, json_dup(v[1])) == NULL &&
		parts_next_incomplete(p) == NULL,
	    "a part that is there twice is ignored");
	tap_ok(strcmp(json_get_str(run, "type"), "run") == 0 &&
		strcmp(json_get_str(run, "status"), "ok") == 0 &&
		!json_get(run, "error"),
	    "the run is ok");
	text = json_str(json_path(run, "hist.latency_ns"));
	h = histcodec_decode(text, strlen(text), &why);
	tap_ok(h && is_equal(h, all),
	    "its histogram is that of all values, cell by cell");
	for (const struct metric *m = metric_table; m->name; m++)
		if (metric_is_percentile(m, "latency_ns") && m->quantile < 1)
			tap_ok(json_get_num(json_get(run, "metrics"), m->name,
				   NAN) == metric_time(m, h),
			    "%s is that of this histogram", m->name);
	tap_ok(get(run, "metrics.requests") == VALUES * 6 &&
		get(run, "metrics.rps") == 600 &&
		get(run, "metrics.errors") == 3 && get(run, "errors.OOM") == 3,
	    "requests, rates and errors are added");
	tap_ok(fabs(get(run, "metrics.server_cpu_us_per_req") - 1) < 1e-9,
	    "the CPU time of the server is divided by all requests");
	tap_ok(fabs(get(run, "metrics.client_cpu_us_per_req") - 14. / 6) < 1e-9,
	    "the CPU time of the clients is a mean over all requests");
	tap_ok(json_len(json_path(run, "series.rps")) == 2 &&
		json_num(json_at(json_path(run, "series.rps"), 0), 0) == 6 &&
		!json_path(run, "series.p99_latency_ms"),
	    "the series has the seconds that all parts have, without "
	    "percentiles");
	tap_ok(strcmp(json_get_str(run, "bound"), "client") == 0,
	    "if one client was the limit, the client is the limit of the run");
	tap_ok(json_len(json_path(run, "run.parts")) == PARTS &&
		!json_path(run, "run.part") &&
		get(run, "run.parts_overlap_percent") > 99.99,
	    "the run lists its parts");
	json_free(run);
	parts_free(p);

	p = parts_new();
	json_set_num(json_path(v[1], "run.part"), "begin_us", 1020000);
	json_set_num(json_path(v[1], "run.part"), "end_us", 2020000);
	for (int i = 0; i < PARTS; i++)
		run = parts_add(p, json_dup(v[i]));
	tap_ok(strcmp(json_get_str(run, "status"), "failed") == 0 &&
		strstr(json_get_str(run, "error"), "for 98 % only"),
	    "parts that overlap by 98 %% fail the run");
	json_free(run);
	parts_free(p);

	p = parts_new();
	json_set_num(json_get(v[1], "config"), "requests", 9);
	parts_add(p, json_dup(v[0]));
	parts_add(p, json_dup(v[1]));
	run = parts_next_incomplete(p);
	tap_ok(strstr(json_get_str(run, "error"),
		   "parts 2 and 3 of 3 are missing"),
	    "parts of different cases are not joined");
	json_free(run);
	parts_free(p);
	for (int i = 0; i < PARTS; i++)
		json_free(v[i]);
	hist_free(h);
	hist_free(all);
	return tap_done();
}
