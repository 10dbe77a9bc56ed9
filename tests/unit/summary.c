/* Summaries: merged histograms, and that nothing depends on the order of the
 * input. */
#include "tap.h"

#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "rng.h"
#include "str.h"
#include "summary.h"

#include <stdlib.h>

/* Returns a run whose latencies are from..to microseconds, one each. */
static struct json *
run(int index, int64_t from, int64_t to, struct hist *h)
{
	struct json *rec = record_new("run"), *j;
	struct str text = {0};

	for (int64_t us = from; us <= to; us++)
		hist_add(h, us * 1000, 1);
	histcodec_encode(&text, h);
	j = json_object();
	json_set_str(j, "label", "x");
	json_set(rec, "subject", j);
	j = json_object();
	json_set_str(j, "command", "SET");
	json_set(rec, "config", j);
	j = json_object();
	json_set_str(j, "session", "s");
	json_set_num(j, "index", index);
	json_set_num(j, "block", index);
	json_set(rec, "run", j);
	j = json_object();
	json_set_num(j, "rps", 1000 + index);
	json_set(rec, "metrics", j);
	j = json_object();
	json_set_str(j, "latency_ns", text.s);
	json_set(rec, "hist", j);
	json_set_str(rec, "status", "ok");
	str_free(&text);
	hist_free(h);
	return rec;
}

static char *
summarise(struct json *const *runs, size_t n, bool backwards)
{
	struct summary *s = summary_new(NULL, NULL);
	struct json *rec;
	char *text;

	for (size_t i = 0; i < n; i++)
		if (summary_add(s, runs[backwards ? n - 1 - i : i], "test") < 0)
			abort();
	tap_ok(summary_count(s) == 1, "there is one summary");
	rec = summary_record(s, 0, false);
	tap_ok(record_check(rec, "test") == 0, "it is a valid record");
	text = json_print(rec);
	json_free(rec);
	summary_free(s);
	return text;
}

static void
layouts(void)
{
	struct json *runs[] = {run(1, 1, 1000, hist_new(1, 10000000000, 2)),
	    run(2, 1001, 2000, HIST_LATENCY()),
	    run(3, 2001, 4000, hist_new(1000, 1000000000, 4))};
	char *one = summarise(runs, 3, false), *two = summarise(runs, 3, true);
	struct json *rec = json_parse(one, strlen(one), NULL, NULL);

	tap_str(two, one,
	    "histograms of several layouts: the order does not matter");
	tap_near(json_num(json_path(rec, "whole.p50_latency_ms"), 0), 2, 1e-2,
	    "their median is right");
	tap_ok(json_num(json_path(rec, "whole.latency_count"), 0) == 4000,
	    "no value is lost");
	json_free(rec);
	free(one);
	free(two);
	for (size_t i = 0; i < 3; i++)
		json_free(runs[i]);
}

/* Quantiles of each run, in the order of its values. */
static void
quantiles(void)
{
	static const struct {
		const char *key;
		double ms[3];
	} want[] = {{"50", {.5, 1.5, 3}}, {"75", {.75, 1.75, 3.5}},
	    {"90", {.9, 1.9, 3.8}}, {"95", {.95, 1.95, 3.9}},
	    {"99", {.99, 1.99, 3.98}}};
	struct json *runs[] = {run(3, 2001, 4000, HIST_LATENCY()),
	    run(1, 1, 1000, HIST_LATENCY()),
	    run(2, 1001, 2000, HIST_LATENCY())};
	char *text = summarise(runs, 3, false);
	struct json *rec = json_parse(text, strlen(text), NULL, NULL), *q;

	q = json_path(rec, "quantiles.latency_ns");
	tap_ok(json_len(q) == 5,
	    "the quantiles are those with ten requests beyond them");
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 3; k++)
			tap_near(
			    json_num(json_at(json_get(q, want[i].key), k), 0),
			    want[i].ms[k] * 1e6, 2e-3, want[i].key);
	json_free(rec);
	free(text);
	json_del(runs[1], "hist");
	text = summarise(runs, 3, false);
	rec = json_parse(text, strlen(text), NULL, NULL);
	tap_ok(!json_get(rec, "quantiles"),
	    "if one run has no quantiles, the summary has none");
	json_free(rec);
	free(text);
	for (size_t i = 0; i < 3; i++)
		json_free(runs[i]);
}

/* Runs of a hundred cases in turn. */
static void
many(void)
{
	static const double first[] = {15, 105, 110, 9},
			    sorted[] = {9, 15, 105, 110};
	struct summary *s = summary_new(NULL, NULL);
	struct json *rec;
	size_t good = 0;

	for (int round = 0; round < 3; round++)
		for (int c = 0; c < 100; c++) {
			rec = run(round + 1, 1 + 1000 * round,
			    1000 + 1000 * round, HIST_LATENCY());
			json_set_num(json_get(rec, "config"), "pipeline", c);
			summary_add(s, rec, "test");
			json_free(rec);
		}
	for (size_t i = 0; i < summary_count(s); i++) {
		rec = summary_record(s, i, false);
		good += json_num(json_path(rec, "whole.latency_count"), 0) ==
			3000 &&
		    fabs(json_num(json_path(rec, "whole.p50_latency_ms"), 0) -
			1.5) < .002;
		json_free(rec);
	}
	tap_ok(good == 100,
	    "the runs of a hundred cases in turn: %zu summaries are right",
	    good);
	summary_free(s);
	s = summary_new(NULL, NULL);
	for (size_t i = 0; i < 4; i++) {
		rec = run(1, 1, 10, HIST_LATENCY());
		json_set_num(json_get(rec, "config"), "pipeline", first[i]);
		summary_add(s, rec, "test");
		json_free(rec);
	}
	for (size_t i = 0; i < 4; i++) {
		rec = summary_record(s, i, false);
		tap_near(json_num(json_path(rec, "config.pipeline"), 0),
		    sorted[i], 0, "cases are ordered by their numbers");
		json_free(rec);
	}
	summary_free(s);
}

/* Returns a histogram with few counts in a wide range, in one of two
 * layouts. */
static struct json *
drawn_hist(struct rng *r)
{
	struct hist *h =
	    rng_below(r, 2) ? HIST_LATENCY() : hist_new(1, INT64_C(1) << 40, 2);
	struct json *j = json_object();
	struct str text = {0};

	for (size_t n = rng_below(r, 40); n; n--)
		hist_add(
		    h, INT64_C(1) << rng_below(r, 38), 1 + rng_below(r, 9));
	histcodec_encode(&text, h);
	json_set_str(j, rng_below(r, 3) ? "latency_ns" : "other", text.s);
	str_free(&text);
	hist_free(h);
	return j;
}

/* Returns a random run; many of them differ only in a value. */
static struct json *
drawn(struct rng *r)
{
	static const char *const sessions[] = {"s10", "s9", "s\"1", NULL};
	struct json *rec = record_new("run"), *j;
	const char *session = sessions[rng_below(r, 4)];

	j = json_object();
	json_set_num(j, "k", (double)rng_below(r, 3));
	json_set(rec, "subject", j);
	j = json_object();
	json_set_num(j, "pipeline", (double)rng_below(r, 5));
	json_set(rec, "config", j);
	j = json_object();
	json_set_str(j, "session", session);
	if (rng_below(r, 4))
		json_set_num(j, "block", (double)rng_below(r, 3));
	if (rng_below(r, 4))
		json_set_num(j, "index", (double)rng_below(r, 3));
	json_set(rec, "run", j);
	j = json_object();
	for (char name[] = "a_ms"; *name < 'e'; (*name)++)
		if (rng_below(r, 3))
			json_set_num(j, name, (double)rng_below(r, 40) / 8);
	json_set(rec, "metrics", j);
	if (rng_below(r, 2))
		json_set(rec, "hist", drawn_hist(r));
	json_set_str(rec, "status", rng_below(r, 20) ? "ok" : "failed");
	return rec;
}

static void
shuffle(struct json **v, size_t n, struct rng *r)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = rng_below(r, i);
		struct json *j = v[i - 1];

		v[i - 1] = v[k];
		v[k] = j;
	}
}

/* Returns all summaries as text. */
static char *
written(struct json *const *runs, size_t n)
{
	struct summary *s = summary_new(NULL, NULL);
	FILE *f = tmpfile();
	struct str text = {0};
	int bad = 0, c;

	if (!f)
		abort();
	for (size_t i = 0; i < n; i++)
		bad += summary_add(s, runs[i], "test") < 0;
	for (size_t i = 0; i < summary_count(s); i++)
		bad += summary_write(s, i, fileno(f)) < 0;
	rewind(f);
	while ((c = getc(f)) != EOF)
		str_addc(&text, (char)c);
	fclose(f);
	summary_free(s);
	tap_ok(!bad, "%zu runs: no error", n);
	return str_take(&text);
}

/* The order of the runs changes no byte of the output. */
static void
shuffled(void)
{
	enum { RUNS = 3000 };
	struct json **runs = mem_array(RUNS, sizeof *runs), *rec;
	struct summary *s = summary_new(NULL, NULL);
	struct str trees = {0};
	char *want, *got;
	struct rng r;
	bool same = true;

	rng_seed(&r, 11, 0);
	for (size_t i = 0; i < RUNS; i++)
		runs[i] = drawn(&r);
	want = written(runs, RUNS);
	for (size_t i = 0; i < 3; i++) {
		shuffle(runs, RUNS, &r);
		got = written(runs, RUNS);
		same &= strcmp(got, want) == 0;
		free(got);
	}
	tap_ok(same, "in any order the output is the same");
	for (size_t i = 0; i < RUNS; i++)
		summary_add(s, runs[i], "test");
	for (size_t i = 0; i < summary_count(s); i++) {
		rec = summary_record(s, i, false);
		same &= record_check(rec, "test") == 0;
		json_append(&trees, rec);
		str_addc(&trees, '\n');
		json_free(rec);
	}
	tap_str(trees.s, want, "the records as trees are the same");
	str_free(&trees);
	summary_free(s);
	for (size_t i = 0; i < RUNS; i++)
		json_free(runs[i]);
	free(runs);
	free(want);
}

/* Returns a run of a session with or without a place in it. */
static struct json *
bare(const char *session, size_t i, const char *env, bool timed)
{
	char text[400], place[40] = "";
	struct json *j;

	if (timed)
		snprintf(place, sizeof place, ",\"order\":%zu", i);
	snprintf(text, sizeof text,
	    "{\"type\":\"run\",\"v\":1,\"subject\":{},\"config\":{},"
	    "\"run\":{\"session\":\"%s\"%s},\"env\":%s,\"metrics\":"
	    "{\"rps\":%zu},\"status\":\"ok\"}",
	    session, place, env, 100 + 2 * i);
	j = json_parse(text, strlen(text), NULL, NULL);
	return j ? j : (abort(), NULL);
}

/* Two sessions of seven runs: the sources of noise include sessions; there is a
 * drift only if the order of the runs is known. */
static void
places(void)
{
	for (int timed = 0; timed < 2; timed++) {
		struct summary *s = summary_new(NULL, NULL);
		struct json *rec;
		const struct json *m;

		for (size_t i = 0; i < 14; i++) {
			rec = bare(i < 7 ? "s" : "t", i, "{}", timed);
			summary_add(s, rec, "test");
			json_free(rec);
		}
		rec = summary_record(s, 0, false);
		m = json_path(rec, "metrics.rps");
		tap_ok(json_len(json_get(m, "split")) == 2 &&
			strcmp(json_get_str(
				   json_at(json_get(m, "split"), 0), "source"),
			    "session") == 0,
		    "runs without a place in their session are runs of a "
		    "session");
		tap_ok(!json_get(m, "lag1") == !timed &&
			!json_get(m, "drift_percent") == !timed,
		    "only runs with an order have an autocorrelation and a "
		    "drift");
		tap_ok(!json_get(m, "blocks"), "no run has a block");
		json_free(rec);
		summary_free(s);
	}
}

/* Keys of env in any order: those that all runs have, those of some runs, and
 * those that differ. */
static void
settings(void)
{
	static const char *const envs[] = {
	    "{\"d\":1,\"a\":{\"y\":1,\"x\":2},\"c\":3}",
	    "{\"c\":3,\"b\":9,\"a\":{\"x\":2,\"y\":1},\"d\":1}",
	    "{\"a\":{\"y\":1,\"x\":2},\"d\":2,\"c\":3}"};
	struct summary *s = summary_new(NULL, NULL);
	struct json *rec;
	char *text;

	for (size_t i = 0; i < 3; i++) {
		rec = bare("s", i, envs[i], true);
		summary_add(s, rec, "test");
		json_free(rec);
	}
	rec = bare("s", 3, envs[0], true);
	json_set(rec, "hist", json_parse("{\"a_ns\":\"x\"}", 12, 0, 0));
	tap_ok(summary_add(s, rec, "test") < 0,
	    "a histogram that cannot be read is an error");
	json_free(rec);
	rec = bare("s", 4, envs[1], true);
	json_set_str(rec, "status", "failed");
	tap_ok(summary_add(s, rec, "test") == 0, "a failed run is added");
	json_free(rec);
	rec = summary_record(s, 0, false);
	text = json_print(json_get(rec, "env"));
	tap_str(text, "{\"a\":{\"x\":2,\"y\":1},\"c\":3}",
	    "keys with equal values in all runs are listed, sorted by name");
	free(text);
	text = json_print(json_get(rec, "env_varied"));
	tap_str(text, "[\"d\"]", "keys with different values are named");
	free(text);
	json_free(rec);
	summary_free(s);
}

int
main(void)
{
	struct json *runs[] = {run(1, 1, 1000, HIST_LATENCY()),
	    run(2, 1001, 2000, HIST_LATENCY()),
	    run(3, 2001, 4000, HIST_LATENCY())};
	char *one = summarise(runs, 3, false), *two = summarise(runs, 3, true);
	struct json *rec = json_parse(one, strlen(one), NULL, NULL);
	const struct json *whole = json_get(rec, "whole");
	const char *text = json_str(json_path(rec, "hist.latency_ns")), *why;
	struct hist *h;

	tap_str(two, one, "the other order of the input gives the same");
	tap_near(json_get_num(whole, "p50_latency_ms", 0), 2, 1e-3,
	    "the median of all requests of all runs");
	tap_near(json_get_num(whole, "p99_latency_ms", 0), 3.96, 1e-3,
	    "the 99th percentile of all requests");
	tap_ok(!json_get(whole, "p999_latency_ms"),
	    "a percentile with fewer than ten requests beyond it is left out");
	tap_near(json_get_num(whole, "max_latency_ms", 0), 4, 1e-3, "largest");
	tap_ok(json_get_num(whole, "latency_count", 0) == 4000, "count");
	h = text ? histcodec_decode(text, strlen(text), &why) : NULL;
	tap_ok(h && hist_count(h) == 4000, "the merged histogram is there");
	hist_free(h);
	free(one);
	free(two);
	one = summarise(runs, 1, false);
	json_free(rec);
	rec = json_parse(one, strlen(one), NULL, NULL);
	tap_near(json_num(json_path(rec, "whole.p50_latency_ms"), 0), .5, 2e-3,
	    "the same of one run");
	json_free(rec);
	free(one);
	for (size_t i = 0; i < 3; i++)
		json_free(runs[i]);
	layouts();
	quantiles();
	many();
	shuffled();
	places();
	settings();
	return tap_done();
}
