/* How long slices are, which part of them is measured, and when a run is
 * done. */
#include "vkb-load/engine/slicetimes.h"
#include "tap.h"

#include "hist.h"
#include "mem.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/run.h"
#include "vkb-load/engine/streams.h"

#include <stdlib.h>

#define MS INT64_C(1000000)
#define AT (50 * RUN_SECOND)

static const struct engine_work timed = {.duration_s = 2.5, .clients = 10};
static const struct engine_work made = {.requests = 1000, .clients = 10};
static const struct engine_work rated = {
    .duration_s = 2.5, .clients = 10, .rate = 2000};

static struct run
stream(const struct engine_work *w)
{
	return (struct run){.work = w,
	    .arrivals = arrivals_find(w),
	    .pipeline = 2,
	    .requests = w->requests > 0 ? (uint64_t)w->requests : RUN_ENDLESS};
}

static void
lengths(void)
{
	struct slicetimes l;

	slicetimes_set(&l, .05);
	tap_ok(l.ns == 50 * MS && l.head == 5 * MS,
	    "the first tenth of a slice is its head");
	slicetimes_set(&l, .2);
	tap_ok(l.ns == 200 * MS && l.head == 20 * MS,
	    "the longest slice is 200 ms");
	slicetimes_set(&l, .2001);
	tap_ok(l.ns == INT64_MAX && l.head == 20 * MS,
	    "a longer one means one turn, with the head of 200 ms");
}

static double
choose(struct run *r, size_t n)
{
	struct side side = {.runs = r, .n = n};
	struct streams s = {.sides = &side, .nsides = 1};

	return slicetimes_choose(&s);
}

static void
choices(void)
{
	struct worker w[3] = {
	    {.answered = 6000}, {.answered = 2000}, {.answered = 500}};
	struct run r[2] = {stream(&timed), stream(&timed)};
	struct engine_work many = timed, slow = rated, slower = rated;
	struct side sides[2] = {
	    {.runs = &r[0], .n = 1}, {.runs = &r[1], .n = 1}};
	struct streams s = {.sides = sides, .nsides = 2};

	tap_near(choose(r, 1), .02, 1e-12,
	    "before the first slice the length is 20 ms");
	r[0].workers = w;
	r[0].nworkers = 2;
	r[0].active_ns = RUN_SECOND / 2;
	/* 8000 requests are 4000 batches, in half a second. */
	tap_near(choose(r, 1), .025, 1e-12,
	    "a slice is as long as 200 batches take");
	r[0].active_ns = RUN_SECOND / 4;
	tap_near(choose(r, 1), .02, 1e-12, "a slice is at least 20 ms long");
	r[0].active_ns = RUN_SECOND / 2;
	many.clients = 40;
	r[0].work = &many;
	tap_near(choose(r, 1), .025, 1e-12,
	    "40 clients make five batches each of these 200");
	many.clients = 60;
	tap_near(choose(r, 1), .0375, 1e-12, "60 need 300");
	r[1].workers = &w[2];
	r[1].nworkers = 1;
	r[1].active_ns = 3 * RUN_SECOND / 4;
	/* 4250 batches of 70 clients in the longer of both times. */
	tap_near(choose(r, 2), 350 * .75 / 4250, 1e-12,
	    "the batches of all streams of a server are added");
	tap_near(slicetimes_choose(&s), 200 * .75 / 250, 1e-12,
	    "the slowest server determines the length");
	sides[1].runs = &r[0];
	sides[0].runs = &r[1];
	tap_near(slicetimes_choose(&s), 200 * .75 / 250, 1e-12,
	    "the order of the servers does not matter");
	r[1] = stream(&rated);
	tap_near(choose(&r[1], 1), .1, 1e-12,
	    "with a rate a slice is as long as 200 requests are apart");
	slow.rate = 1000;
	r[1].work = &slow;
	tap_near(choose(&r[1], 1), .2, 1e-12,
	    "with a low rate a slice is 200 ms long");
	slower.rate = 500;
	r[1].work = &slower;
	tap_near(choose(&r[1], 1), .2, 1e-12,
	    "with a lower rate a slice is not longer");
	slower.rate = 20000;
	tap_near(choose(&r[1], 1), .02, 1e-12,
	    "with a high rate a slice is at least 20 ms long");
	slower.rate = 4000;
	r[1].workers = &w[2];
	r[1].nworkers = 1;
	r[1].active_ns = RUN_SECOND;
	tap_near(choose(&r[1], 1), .05, 1e-12,
	    "with a rate earlier slices do not matter");
	r[0] = stream(&rated);
	tap_near(choose(r, 2), 200. / 6000, 1e-12,
	    "the rates of the streams of a server are added");
}

static void
warm_ups(void)
{
	struct engine_work longer = timed, part = made;
	struct run r[3] = {stream(&timed), stream(&longer), stream(&made)};
	struct side s = {.runs = r, .n = 3};
	struct slicetimes l;

	tap_ok(slicetimes_warm_up(&l, &s) && l.ns == 100 * MS && l.head == l.ns,
	    "the warm-up of a server without one is 100 ms");
	tap_ok(!r[0].idle && !r[1].idle && r[2].idle,
	    "a stream with a number of requests does not run in it");
	longer.warmup_s = 1.5;
	tap_ok(
	    slicetimes_warm_up(&l, &s) && l.ns == 1500 * MS && l.head == l.ns,
	    "the warm-up is the longest of its streams");
	part.warmup_s = .01;
	r[2].work = &part;
	tap_ok(slicetimes_warm_up(&l, &s) && !r[2].idle,
	    "a stream with a number of requests runs in it if it has a "
	    "warm-up");
	r[0] = stream(&made);
	s.n = 1;
	tap_ok(!slicetimes_warm_up(&l, &s) && r[0].idle,
	    "without a warm-up there is none before the measurement");
}

static void
begins(void)
{
	const struct slicetimes plain = {100 * MS, 10 * MS};
	const struct slicetimes warm = {100 * MS, 100 * MS};
	const struct slicetimes all = {INT64_MAX, 20 * MS};
	struct run r = stream(&timed);

	slicetimes_begin(&r, AT, &warm);
	tap_ok(r.start == AT && r.t0 == AT + 100 * MS && r.t1 == r.t0 &&
		r.began == 0 && r.pauses,
	    "a warm-up is not measured");
	slicetimes_begin(&r, AT, &plain);
	tap_ok(r.start == AT && r.t0 == AT + 10 * MS && r.t1 == AT + 100 * MS &&
		r.from == r.t0,
	    "a slice is measured after its head");
	tap_near(r.slice_s, .09, 1e-12, "its measured time in seconds");
	tap_ok(r.began == AT + 10 * MS, "the first slice begins the run");
	r.active_ns = 100 * MS;
	slicetimes_begin(&r, 2 * AT, &plain);
	tap_ok(r.began == AT + 10 * MS,
	    "a later slice does not change the begin of the run");
	r.sliced_ns = 2410 * MS - 1;
	slicetimes_begin(&r, AT, &plain);
	tap_ok(r.pauses, "another slice follows if a nanosecond is missing");
	r.sliced_ns = 2410 * MS;
	slicetimes_begin(&r, AT, &plain);
	tap_ok(!r.pauses, "no slice follows after all of the time");
	r.sliced_ns = 0;
	slicetimes_begin(&r, AT, &all);
	tap_ok(r.t0 == AT + 20 * MS && r.t1 == AT + 2520 * MS && !r.pauses,
	    "in one turn all of the time is measured at once");
	tap_near(r.slice_s, 2.5, 1e-12, "its measured time is the duration");
	r = stream(&made);
	slicetimes_begin(&r, AT, &plain);
	tap_ok(r.from == AT && r.t0 == AT + 10 * MS && r.pauses,
	    "with a number of requests all of the slice counts");
	slicetimes_begin(&r, AT, &warm);
	tap_ok(r.from == INT64_MAX, "in the warm-up requests do not count");
	slicetimes_begin(&r, AT, &all);
	tap_ok(r.t1 == INT64_MAX && r.t0 == AT + 20 * MS && r.from == AT,
	    "in one turn a number of requests has no end in time");
}

/* A run in a slice of 100 ms, the first ten of which are its head. */
static struct run
sliced(const struct engine_work *w, struct worker *workers)
{
	struct run r = stream(w);

	r.workers = workers;
	r.nworkers = 2;
	r.t0 = AT + 10 * MS;
	r.t1 = AT + 100 * MS;
	r.active_ns = 1000 * MS;
	r.sliced_ns = 900 * MS;
	r.intervals = mem_array(2, sizeof *r.intervals);
	r.nintervals = 2;
	r.closed = 1;
	r.intervals[1].hist = HIST_LATENCY();
	r.next = r.requests;
	return r;
}

static void
free_sliced(struct run *r)
{
	if (r->nintervals == 2)
		hist_free(r->intervals[1].hist);
	free(r->intervals);
}

static void
ends(void)
{
	struct worker w[2] = {
	    {.last_ns = AT + 40 * MS}, {.last_ns = AT + 30 * MS}};
	struct run r = sliced(&timed, w);

	slicetimes_end(&r, AT, AT + 103 * MS);
	tap_ok(r.active_ns == 1103 * MS && r.sliced_ns == 990 * MS,
	    "a slice includes the time until its last reply, its measured time "
	    "does not");
	tap_near(r.intervals[1].length_s, .09, 1e-12,
	    "the length of its interval is the measured time");
	free_sliced(&r);
	r = sliced(&made, w);
	w[0].at = 1;
	w[0].end = 2;
	slicetimes_end(&r, AT, AT + 103 * MS);
	tap_ok(r.active_ns == 1103 * MS && r.sliced_ns == 990 * MS,
	    "with requests left the measured time does not include it either");
	free_sliced(&r);
	w[0].at = 2;
	r = sliced(&made, w);
	slicetimes_end(&r, AT, AT + 103 * MS);
	tap_ok(r.active_ns == 1040 * MS && r.sliced_ns == 930 * MS &&
		r.nintervals == 2,
	    "with all requests made a slice ends with its last reply");
	tap_near(r.intervals[1].length_s, .03, 1e-12,
	    "its interval ends with its last reply");
	free_sliced(&r);
	r = sliced(&made, w);
	w[1].last_ns = AT + 100 * MS;
	slicetimes_end(&r, AT, AT + 103 * MS);
	tap_ok(r.active_ns == 1103 * MS && r.sliced_ns == 990 * MS,
	    "a last reply at the end of the slice makes it a whole slice");
	free_sliced(&r);
	r = sliced(&made, w);
	w[0].last_ns = w[1].last_ns = AT + 10 * MS;
	slicetimes_end(&r, AT, AT + 103 * MS);
	tap_ok(r.active_ns == 1010 * MS && r.sliced_ns == 900 * MS &&
		r.nintervals == 1 && r.closed == 1 && !r.intervals[1].hist,
	    "a slice that ends within its head has no interval");
	free_sliced(&r);
	r = sliced(&made, w);
	r.closed = 0;
	w[0].last_ns = w[1].last_ns = AT - RUN_SECOND;
	slicetimes_end(&r, AT, AT + 103 * MS);
	tap_ok(r.active_ns == 1103 * MS && r.sliced_ns == 900 * MS &&
		r.nintervals == 1 && r.closed == 0,
	    "a slice without replies has its active time, but no measured "
	    "time");
	free_sliced(&r);
}

static void
shares(void)
{
	struct worker w = {.end = 0};
	struct run r[2] = {stream(&timed), stream(&made)};
	struct streams s = {.runs = r, .n = 2};

	r[1].workers = &w;
	r[1].nworkers = 1;
	r[0].sliced_ns = 2500 * MS - 1;
	tap_ok(!slicetimes_is_over(&r[0]),
	    "a duration is not over a nanosecond before its end");
	r[0].sliced_ns++;
	tap_ok(slicetimes_is_over(&r[0]), "a duration is over at its end");
	r[1].next = 999;
	tap_ok(!slicetimes_is_over(&r[1]),
	    "a number of requests is not over before the last one");
	r[1].next = 1000;
	tap_ok(slicetimes_is_over(&r[1]),
	    "a number of requests is over with the last one");
	r[1].answered = 750;
	tap_near(slicetimes_get_done(&s), .75, 1e-12,
	    "the progress is the share of the requests");
	r[0].sliced_ns = 1000 * MS;
	tap_near(slicetimes_get_done(&s), .4, 1e-12,
	    "the progress is the smallest share of the streams");
	r[0].sliced_ns = 2600 * MS;
	r[1].answered = 2000;
	tap_near(
	    slicetimes_get_done(&s), 1, 1e-12, "the progress is at most 1");
}

int
main(void)
{
	lengths();
	choices();
	warm_ups();
	begins();
	ends();
	shares();
	return tap_done();
}
