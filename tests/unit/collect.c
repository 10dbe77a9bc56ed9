/* What threads count in each second, and the result of a run that is made of
 * it. */
#include "tap.h"

#include "hist.h"
#include "mem.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/counters.h"
#include "vkb-load/engine/run.h"

#include <stdlib.h>

static struct worker
worker(struct run *r)
{
	return (struct worker){.run = r,
	    .all.latency = HIST_LATENCY(),
	    .all.service = HIST_LATENCY(),
	    .interval_end = r->t0 + RUN_SECOND};
}

static void
free_worker(struct worker *w)
{
	hist_free(w->all.latency);
	hist_free(w->all.service);
}

static void
kinds(void)
{
	struct worker w = {0};
	char kind[32];

	counters_count_error(&w, "OOM", "OOM first");
	counters_count_error(&w, "OOM", "OOM second");
	tap_ok(w.all.nerrors == 1 && w.all.errors[0].count == 2,
	    "errors of one kind are one row");
	tap_str(w.all.errors[0].kind, "OOM", "a row of errors has its kind");
	tap_str(w.all.errors[0].text, "OOM first",
	    "a row of errors has the text of the first error");
	for (int i = 1; i < ENGINE_ERRORS + 3; i++) {
		snprintf(kind, sizeof kind, "kind %d", i);
		counters_count_error(&w, kind, "text");
	}
	tap_ok(w.all.nerrors == ENGINE_ERRORS,
	    "there are at most 32 rows of errors");
	tap_str(w.all.errors[ENGINE_ERRORS - 1].kind, "other",
	    "the last row is for all other kinds");
	tap_ok(w.all.errors[ENGINE_ERRORS - 1].count == 4 &&
		w.all.errors[ENGINE_ERRORS - 2].count == 1,
	    "the last row counts all other kinds together");
}

/* Two threads had 20 kinds each, none of them the same. */
static void
too_many_kinds(void)
{
	struct engine_result r = {0};
	static struct engine_error v[ENGINE_ERRORS];
	struct engine_error e = {.count = 3};
	size_t n = 0;
	char text[32];

	for (int i = 0; i < 40; i++) {
		snprintf(e.kind, sizeof e.kind, "kind %d", i);
		counters_add_row(
		    r.errors, &r.nerrors, e.kind, e.text, e.count, false);
	}
	tap_ok(r.nerrors == ENGINE_ERRORS && r.errors[30].count == 3 &&
		r.errors[31].count == 27,
	    "kinds of all threads beyond the 31st are counted together");
	tap_str(r.errors[31].kind, "other", "under no kind of their own");
	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof text, "reason %d", i % 35);
		counters_add_row(v, &n, "kind", text, 2, true);
	}
	tap_ok(n == ENGINE_ERRORS && v[0].count == 4 && v[5].count == 2 &&
		v[31].count == 8,
	    "a kind with several reasons has several rows");
	tap_str(v[31].kind, "other", "too many of them are another kind");
	tap_str(v[31].text, "for several reasons", "with a reason of its own");
}

/* One thread answers 2 requests in the first second, none in the second, and 1
 * in the third. */
static void
seconds(void)
{
	struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct run r = {.together = 1, .gate = &gate, .t0 = 5 * RUN_SECOND};
	struct worker w = worker(&r);

	r.latency = HIST_LATENCY();
	r.service = HIST_LATENCY();
	w.loop.now = r.t0 + RUN_SECOND - 1;
	counters_record(&w, 1000, 2);
	hist_add(w.all.service, 10, 1);
	hist_add(w.all.latency, 1500, 1);
	tap_ok(r.nintervals == 0 && w.interval_counted == 2 &&
		hist_count(w.all.latency) == 3,
	    "a late reply has a latency, but does not count as a request");
	w.loop.now = r.t0 + 2 * RUN_SECOND;
	counters_record(&w, 3000, 1);
	tap_ok(r.nintervals == 2 && r.intervals[0].requests == 2 &&
		r.intervals[1].requests == 0 && r.answered == 2,
	    "a second is added to the run when the next one begins");
	tap_ok(w.interval == 2 && w.interval_end == r.t0 + 3 * RUN_SECOND &&
		w.interval_counted == 1,
	    "the thread has begun a new second");
	tap_ok(hist_count(r.latency) == 3 && hist_count(r.service) == 1 &&
		hist_count(w.all.latency) == 1 &&
		hist_count(w.all.service) == 0,
	    "the latencies of a thread are added to those of the run");
	tap_ok(hist_count(r.intervals[0].hist) == 3 && !r.intervals[1].hist,
	    "the latencies of a thread are added to those of their second");
	counters_end_slice(&w);
	tap_ok(r.nintervals == 3 && r.intervals[2].requests == 1 &&
		r.answered == 3 && r.ndone == 1 && w.interval_counted == 0,
	    "at the end the last second is added");
	hist_free(r.intervals[0].hist);
	hist_free(r.intervals[2].hist);
	free(r.intervals);
	hist_free(r.latency);
	hist_free(r.service);
	free_worker(&w);
}

/* Lengths of the intervals that a meter got. */
struct told {
	size_t n;
	double lengths[4];
};

static void
note(void *arg, const struct engine_ended *e)
{
	struct told *t = arg;

	t->lengths[t->n++] = e->length_s;
}

/* Of two threads one is done in the first second. */
static void
early(void)
{
	struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct engine_work work = {.duration_s = 2.5};
	struct cmdsource c = {0};
	struct worker w[2];
	struct run r = {.together = 1,
	    .gate = &gate,
	    .work = &work,
	    .source = &c,
	    .arrivals = arrivals_find(&work),
	    .workers = w,
	    .nworkers = 2,
	    .tells = true,
	    .requests = 3,
	    .t0 = 5 * RUN_SECOND,
	    .t1 = INT64_MAX,
	    .latency = HIST_LATENCY()};
	struct told told = {0};
	struct engine_meter m = {.ended = note, .ended_arg = &told};
	struct engine_result o = {0};

	w[0] = worker(&r);
	w[1] = worker(&r);
	counters_end_slice(&w[0]);
	counters_close_intervals(&r, false);
	tap_ok(r.closed == 0, "a second ends when no thread is in it");
	w[1].loop.now = r.t0 + RUN_SECOND;
	counters_record(&w[1], 1000, 1);
	w[1].loop.now = w[1].last_ns = r.t0 + 9 * RUN_SECOND / 4;
	counters_record(&w[1], 1000, 1);
	counters_close_intervals(&r, false);
	tap_ok(r.closed == 2, "a thread that is done is in none");
	counters_end_slice(&w[1]);
	counters_close_intervals(&r, false);
	counters_tell_intervals(&r, &m, 0);
	tap_ok(r.closed == 2 && told.n == 2 && told.lengths[1] == 1,
	    "the last second is not told before the run has ended");
	counters_collect(&r, &o);
	counters_tell_intervals(&r, &m, 0);
	tap_ok(told.n == 3 && told.lengths[0] == 1 && told.lengths[2] == .25,
	    "then it is as long as the run went on");
	free(r.intervals);
	engine_result_free(&o);
	free_worker(&w[0]);
	free_worker(&w[1]);
}

static struct run
finished(
    struct worker *w, const struct engine_work *work, const struct cmdsource *c)
{
	struct run r = {.together = 1,
	    .work = work,
	    .source = c,
	    .arrivals = arrivals_find(work),
	    .workers = w,
	    .nworkers = 2,
	    .t0 = 1000,
	    .began = 1000,
	    .t1 = 1000 + 5 * RUN_SECOND / 2,
	    .requests = RUN_ENDLESS,
	    .latency = HIST_LATENCY()};

	for (int64_t i = 1; i <= 1000; i++)
		hist_add(r.latency, i * 1000000, 1);
	r.nintervals = 4;
	r.intervals = mem_array(4, sizeof *r.intervals);
	for (size_t i = 0; i < 4; i++)
		r.intervals[i] =
		    (struct interval){.requests = 10 + i, .length_s = 1};
	r.intervals[1].hist = HIST_LATENCY();
	hist_add(r.intervals[1].hist, 2000000, 98);
	hist_add(r.intervals[1].hist, 7000000, 2);
	return r;
}

/* Frees a result and gives the run the state in which it ended. */
static void
restart(struct run *r, struct engine_result *o)
{
	free(r->intervals);
	engine_result_free(o);
	*o = (struct engine_result){0};
	*r = finished(r->workers, r->work, r->source);
}

static void
sums(void)
{
	struct engine_work work = {.duration_s = 2.5, .resp3 = true};
	struct cmdsource c = {.items = 2};
	struct worker w[2] = {{.all.counted = 100,
				  .refilled = 1,
				  .all.misses = 20,
				  .all.refused = 3,
				  .all.lost = 4,
				  .all.unanswered = 5,
				  .reconnects = 6,
				  .loop.pushes = 7,
				  .all.nerrors = 1,
				  .all.errors = {{.kind = "a", .count = 8}},
				  .last_ns = 900},
	    {.all.counted = 300,
		.refilled = 10,
		.all.misses = 40,
		.all.refused = 30,
		.all.refusal = "ERR no",
		.all.lost = 41,
		.all.unanswered = 51,
		.reconnects = 61,
		.loop.pushes = 71,
		.all.nerrors = 2,
		.all.errors = {{.kind = "b", .count = 9},
		    {.kind = "a", .count = 2}},
		.last_ns = 2000001000}};
	struct run r = finished(w, &work, &c);
	struct engine_result o = {0};

	counters_collect(&r, &o);
	tap_ok(o.requests == 400 && o.refilled == 11 && o.refused == 33,
	    "requests, refills and refusals of the threads are summed");
	tap_ok(o.lost == 45 && o.unanswered == 56 && o.reconnects == 67 &&
		o.pushes == 78,
	    "losses and pushes of the threads are summed");
	tap_ok(o.errors_total == 19 && o.nerrors == 2 &&
		o.errors[0].count == 10 && o.errors[1].count == 9,
	    "errors of the threads are summed by kind");
	tap_str(o.refusal, "ERR no", "the refusal of a thread is kept");
	tap_ok(o.start_ns == 1000 && o.end_ns == 2500001000,
	    "a run with a duration ends after it");
	tap_near(o.elapsed_s, 2.5, 1e-12, "its elapsed time is its duration");
	tap_near(o.rps, 160, 1e-12, "its rate is its requests by this time");
	/* 400 requests of 2 keys: 60 misses, and 33 refused requests, which
	 * count as two misses each. */
	tap_near(o.hit_rate_percent, 100 * (1 - 126. / 800), 1e-12,
	    "requests that were refused count as misses");
	tap_ok(isnan(o.offered_rps) && isnan(o.max_backlog),
	    "closed loop has no offered rate and no backlog");
	tap_ok(o.nintervals == 3 && o.intervals[0].at_s == 1 &&
		o.intervals[2].at_s == 2.5 && o.intervals[2].length_s == .5 &&
		o.intervals[1].length_s == 1 && o.intervals[2].requests == 12,
	    "the last second ends with the run");
	tap_near(o.intervals[1].p50_ms, 2, .01, "a second has its median");
	tap_near(
	    o.intervals[1].p99_ms, 7, .01, "a second has its 99th percentile");
	tap_near(
	    o.intervals[1].max_ms, 7, .01, "a second has its largest latency");
	tap_ok(isnan(o.intervals[0].p50_ms),
	    "a second without replies has no median");
	free(r.intervals);
	engine_result_free(&o);
}

/* Connections that were reopened on purpose. */
static void
connects(void)
{
	struct engine_work work = {.duration_s = 2.5, .conns.reconnect = 10};
	struct cmdsource c = {0};
	struct worker w[2] = {{.connects = 3, .connect = HIST_LATENCY()},
	    {.connects = 40, .resumed = 5, .connect = HIST_LATENCY()}};
	struct run r = finished(w, &work, &c);
	struct engine_result o = {0}, again = {0}, none = {0};

	hist_add(w[0].connect, 1000000, 3);
	hist_add(w[1].connect, 3000000, 41);
	counters_collect(&r, &o);
	tap_ok(o.connects == 43 && hist_count(o.connect) == 44 &&
		hist_max(o.connect) == 3000000,
	    "connects of the threads are summed");
	tap_ok(isnan(o.resumed), "without TLS no session is resumed");
	free(r.intervals);
	engine_result_free(&o);
	r = finished(w, &work, &c);
	r.setup.tls = (void *)&work;
	counters_collect(&r, &again);
	tap_ok(again.resumed == 5, "with TLS the resumed sessions are summed");
	free(r.intervals);
	engine_result_free(&again);
	work.conns.reconnect = 0;
	r = finished(w, &work, &c);
	counters_collect(&r, &none);
	tap_ok(
	    !none.connect, "a load that keeps its connections has no connects");
	free(r.intervals);
	engine_result_free(&none);
	hist_free(w[0].connect);
	hist_free(w[1].connect);
}

/* A run with a number of requests ends with the last answer. */
static void
ends(void)
{
	struct engine_work work = {.rate = 100, .duration_s = 2.5};
	struct cmdsource c = {0};
	struct worker w[2] = {{.all.counted = 3,
				  .measured = 200,
				  .max_backlog = 4,
				  .last_ns = 2000001000},
	    {.all.counted = 1,
		.measured = 50,
		.max_backlog = 9,
		.last_ns = 1000001000}};
	struct run r = finished(w, &work, &c);
	struct engine_result o = {0};

	r.t1 = INT64_MAX;
	r.requests = 250;
	w[0].first_due = 5e8; /* 200 requests in 1 s, and 50 in .5 s */
	w[0].seen.next_ns = 15e8;
	w[1].seen.next_ns = 5e8;
	counters_collect(&r, &o);
	tap_near(o.elapsed_s, 2, 1e-12,
	    "a run with a number of requests lasts until the last answer");
	tap_near(o.offered_rps, 300, 1e-12,
	    "its offered rate is that at which its requests were due");
	tap_near(o.max_backlog, 9, 0, "its backlog is the longest of a thread");
	tap_ok(isnan(o.pushes) && isnan(o.hit_rate_percent),
	    "there are no pushes without RESP3 and no hits without reads");

	restart(&r, &o);
	counters_collect(&r, &o);
	tap_near(
	    o.elapsed_s, 2.5, 1e-12, "a run with a duration lasts as long");
	tap_near(o.offered_rps, 100, 1e-12,
	    "its offered rate is its requests by the duration");

	restart(&r, &o);
	w[0].last_ns = 1000 + 3 * RUN_SECOND;
	counters_collect(&r, &o);
	tap_near(o.elapsed_s, 2.5, 1e-12,
	    "answers after that do not make it longer");
	tap_near(o.offered_rps, 100, 1e-12,
	    "the offered rate is what was due by the duration");

	restart(&r, &o);
	w[1].cut = true;
	w[0].last_ns = 2000001000;
	counters_collect(&r, &o);
	tap_near(o.elapsed_s, 2, 1e-12,
	    "a run that is interrupted lasts until then");
	tap_near(
	    o.offered_rps, 125, 1e-12, "its offered rate is that of this time");

	restart(&r, &o);
	hist_clear(r.latency);
	w[0] = w[1] = (struct worker){0};
	r.t1 = INT64_MAX;
	r.requests = 250;
	counters_collect(&r, &o);
	tap_ok(o.elapsed_s == 0 && isnan(o.rps) && !hist_count(o.latency) &&
		o.nintervals == 0,
	    "a run without an answer has no rate and no latency");
	free(r.intervals);
	engine_result_free(&o);
}

/* In slices the run takes turns with the loads of other servers: only its own
 * time counts. */
static void
slices(void)
{
	struct engine_work work = {.duration_s = 2.5};
	struct cmdsource c = {0};
	struct worker w[2] = {{.all.counted = 60, .last_ns = 1000},
	    {.all.counted = 40, .last_ns = 1000}};
	struct run r = finished(w, &work, &c);
	struct engine_result o = {0};

	r.sliced_ns = 2 * RUN_SECOND;
	r.active_ns = 5 * RUN_SECOND / 2;
	counters_collect(&r, &o);
	tap_near(o.active_s, 2.5, 1e-12,
	    "in slices the active time is that of all slices with their heads");
	tap_near(o.elapsed_s, 2, 1e-12,
	    "with a duration the elapsed time is without the heads");

	restart(&r, &o);
	r.t1 = INT64_MAX;
	r.requests = 100;
	r.active_ns = 4 * RUN_SECOND;
	counters_collect(&r, &o);
	tap_near(o.active_s, 4, 1e-12,
	    "with a number of requests the active time is that of all slices");
	tap_near(o.elapsed_s, 4, 1e-12,
	    "with a number of requests the elapsed time is the same");
	tap_near(o.rps, 25, 1e-12, "the rate is the requests by this time");

	restart(&r, &o);
	counters_collect(&r, &o);
	tap_near(o.active_s, 0, 0, "a run without slices has no active time");
	free(r.intervals);
	engine_result_free(&o);
}

int
main(void)
{
	kinds();
	too_many_kinds();
	seconds();
	early();
	sums();
	connects();
	ends();
	slices();
	return tap_done();
}
