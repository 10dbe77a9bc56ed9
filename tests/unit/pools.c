/* The connections of a thread by node, and when open loop sends requests. */
#include "tap.h"

#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/dealer.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/pools.h"
#include "vkb-load/engine/run.h"
#include "vkb-load/engine/slotmap.h"
#include "vkb-load/engine/template.h"
#include "hist.h"
#include "tracefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct pacing *open_loop;

/* A ring that grows when its first element is not at its beginning. */
static void
backlogs(void)
{
	struct pool p = {0};
	int64_t next = 0, oldest = 0;
	bool good = true;

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 100; i++)
			pools_add_due(&p, next++);
		for (int i = 0; i < 60; i++)
			good &= pools_take_due(&p) == oldest++;
	}
	tap_ok(good && p.ndue == 200,
	    "requests that are due are taken oldest first");
	while (p.ndue)
		good &= pools_take_due(&p) == oldest++;
	tap_ok(good && oldest == next, "no request is lost");
	free(p.due);
}

/* Nodes with 1, 0 and 3 of 4 keys. */
static void
draws(void)
{
	struct pool pools[] = {{.until = 1}, {.until = 1}, {.until = 4}};
	struct run run = {.together = 1, .chooser = &chooser_uniform};
	struct worker w = {.run = &run, .pools = pools, .npools = 3};
	int n[3] = {0};

	rng_seed(&w.rng, 5, 0);
	for (int i = 0; i < 4000; i++)
		n[pools_draw(&w) - pools]++;
	/* The standard deviation is 27. */
	tap_ok(n[0] > 890 && n[0] < 1110,
	    "a node is drawn as often as its share of the keys: %d", n[0]);
	tap_ok(n[1] == 0, "a node without keys is never drawn");
	w.npools = 1;
	tap_ok(pools_draw(&w) == pools, "with one node it is always drawn");
}

/* Three connections; one is not ready, one waits for a reply. */
static void
idle(void)
{
	struct conn c[3] = {{.state = CONN_READY}, {.state = CONN_CONNECTING},
	    {.state = CONN_READY, .awaited = 1}};
	struct conn *ring[3];
	struct pool p = {.idle = ring, .nconns = 3, .full = true};
	struct worker w = {.pools = &p, .npools = 1};

	for (int i = 0; i < 3; i++)
		pools_add_idle(&w, &c[i]);
	pools_add_idle(&w, &c[0]);
	tap_ok(p.nidle == 3 && !p.full, "a connection is idle only once");
	tap_ok(pools_take_idle(&p) == &c[0], "the ready connection is taken");
	tap_ok(!pools_take_idle(&p) && p.nidle == 0 && !c[1].queued &&
		!c[2].queued,
	    "a connection that is not ready, or waits for a reply, is not "
	    "taken");
	c[0].next = (const struct slotmap_node *)&w;
	pools_add_idle(&w, &c[0]);
	tap_ok(!pools_take_idle(&p),
	    "a connection that belongs to another node now is not taken");
	c[0].next = NULL;
	for (int i = 0; i < 7; i++) {
		pools_add_idle(&w, &c[0]);
		if (pools_take_idle(&p) != &c[0])
			break;
	}
	tap_ok(p.nidle == 0 && p.idle_at < 3,
	    "the ring of idle connections wraps around");
}

/* A connection was to move to a node of an older map, and broke; its own node
 * is not in the new map. */
static void
remapped(void)
{
	static char names[] = "a\0b\0c";
	struct slotmap_node old[2] = {{.name = names}, {.name = names + 2}};
	struct slotmap_node fresh = {.name = names + 4};
	struct slotmap m = {.nodes = &fresh, .n = 1};
	struct cmdsource s = {.tagged = false};
	struct run r = {.by_key = true, .source = &s, .only_node = SIZE_MAX};
	struct conn c = {.fd = -1, .node = &old[0], .next = &old[1]};
	struct conn *list = &c;
	struct worker w = {
	    .run = &r, .conns = &list, .nconns = 1, .nclients = 1};

	pools_remap(&w, &m);
	tap_ok(c.node == &fresh && !c.next && w.pools->conns[0] == &c,
	    "a connection that is down gets a node of the new map");
	pools_free(&w);
}

/* Two threads at 1000 requests/s, from a start at 5000 on. */
static void
schedule(void)
{
	struct engine_work work = {.rate = 1000, .seed = 1};
	struct run r = {.together = 1,
	    .work = &work,
	    .arrivals = arrivals_find(&work),
	    .nworkers = 2,
	    .requests = RUN_ENDLESS,
	    .start = 5000,
	    .from = 5000 + 2500000,
	    .t0 = 5000 + 2500000,
	    .t1 = 5000 + 10000000};
	struct pool p = {0};
	struct worker w = {.run = &r,
	    .index = 1,
	    .pools = &p,
	    .npools = 1,
	    .share = RUN_ENDLESS};

	open_loop->start(&w);
	tap_near(w.seen.gap_ns, 2e6, 0,
	    "of two threads each has every other request");
	tap_ok(
	    open_loop->next(&w) == 1005000, "the second thread begins later");
	open_loop->dispatch(&w, 1005000 - 1);
	tap_ok(w.seen.n == 0, "nothing is due before its time");
	open_loop->dispatch(&w, 1005000);
	tap_ok(w.seen.n == 1 && open_loop->next(&w) == 3005000,
	    "at its time a request is due, and the next one a gap later");
	tap_ok(w.measured == 0 && w.max_backlog == 0,
	    "the warm-up is not measured");
	open_loop->dispatch(&w, 7005000);
	tap_ok(w.seen.n == 4 && w.measured == 3,
	    "from 2.5 ms on requests are measured");
	tap_near(
	    w.max_backlog, 4, 0, "without idle connections all requests wait");
	open_loop->dispatch(&w, 20005000);
	tap_ok(w.seen.n == 5 && open_loop->next(&w) == INT64_MAX,
	    "no request is due at the end or later");
	w.seen = w.sent = (struct schedule){0};
	w.nwindows = 0;
	r.requests = 4;
	r.t1 = INT64_MAX;
	open_loop->start(&w);
	w.measured = 0;
	w.share = 2;
	open_loop->dispatch(&w, 100000000);
	tap_ok(w.measured == 2 && w.seen.n == 3 &&
		open_loop->next(&w) == INT64_MAX,
	    "after its share of 2 requests nothing is due");
	tap_ok(
	    !open_loop->done(&w), "the thread is not done while requests wait");
	w.sent.n = 3;
	tap_ok(open_loop->done(&w),
	    "the thread is done when all requests are sent");
	w.nredirected = 1;
	tap_ok(!open_loop->done(&w),
	    "the thread is not done while a request is redirected");
	w.nredirected = 0;
	w.loop.busy = 1;
	tap_ok(!open_loop->done(&w),
	    "the thread is not done while a reply is missing");
	w.loop.busy = 0;
	w.again = 1;
	tap_ok(!open_loop->done(&w),
	    "the thread is not done while a request is to be sent again");
	w.ending = true;
	tap_ok(open_loop->done(&w), "the thread is done if the run has failed");
	free(w.windows);
}

/*
 * A connection waits for five replies, and for three of commands that are sent
 * again because of their transaction: these have no times in the rings.
 */
static void
repeats(void)
{
	struct engine_target target = {0};
	struct engine_work work = {.rate = 4000,
	    .seed = 1,
	    .command = "MULTI ; SET {key} a ; GET {key} ; EXEC"};
	char *why = NULL;
	struct template *t = template_new(&target, &work, &why);
	struct run r = {.together = 4,
	    .pipeline = 12,
	    .work = &work,
	    .source = template_source(t),
	    .chooser = &chooser_uniform,
	    .arrivals = arrivals_find(&work),
	    .nworkers = 1,
	    .requests = RUN_ENDLESS,
	    .t1 = 1500000};
	struct slotmap_node node = {.keys = {.space = 10, .count = 10}};
	int64_t due[12], written[12];
	int fd[2] = {-1, -1};
	struct conn c = {.state = CONN_READY,
	    .node = &node,
	    .cursor = {.chooser = &chooser_uniform},
	    .awaited = 8,
	    .repeats = 3,
	    .oldest = 2,
	    .due = due,
	    .written = written};
	struct conn *all[] = {&c};
	struct pool p = {.conns = all, .nconns = 1};
	struct worker w = {.run = &r,
	    .pools = &p,
	    .npools = 1,
	    .share = RUN_ENDLESS,
	    .batch = cmdsource_buffer(r.source, RUN_SLICE)};
	bool right = true;

	c.worker = &w;
	c.loop = &w.loop;
	rng_seed(&c.cursor.rng, 1, 0);
	for (int i = 0; i < 12; i++)
		due[i] = written[i] = -77;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
		perror("socketpair");
	c.fd = fd[0];
	open_loop->start(&w);
	open_loop->dispatch(&w, 1200000);
	for (int i = 0; i < 12; i++)
		right &= i < 7 || i > 10
		    ? due[i] == -77 && written[i] == -77
		    : due[i] == 0 && written[i] == c.start_ns;
	tap_ok(right && c.awaited == 12,
	    "the times of a transaction follow those of the lost requests");
	close(fd[0]);
	close(fd[1]);
	free(w.batch);
	free(w.windows);
	template_free(t);
}

/* Begins a slice of 10 ms, whose first 'head' nanoseconds are not measured. */
static void
begin_slice(struct worker *w, int64_t start, int64_t head)
{
	struct run *r = w->run;

	r->start = start;
	r->t0 = r->start + head;
	r->from = run_by_duration(r) ? r->t0 : r->start;
	r->t1 = r->start + 10000000;
	r->pauses = true;
	open_loop->start(w);
}

/* The clock of a thread at 1000 requests/s stops between slices. */
static void
pauses(bool by_duration)
{
	struct engine_work work = {.rate = 1000, .seed = 1};
	struct run r = {.together = 1,
	    .work = &work,
	    .arrivals = arrivals_find(&work),
	    .requests = by_duration ? RUN_ENDLESS : 100,
	    .nworkers = 1};
	struct pool p = {0};
	struct worker w = {
	    .run = &r, .pools = &p, .npools = 1, .share = r.requests};
	int64_t at = 50000;

	begin_slice(&w, at, 10000000); /* a warm-up */
	open_loop->dispatch(&w, at + 11500000);
	tap_ok(w.seen.n == 10 && w.measured == 0,
	    "after the end of a slice no request is due");
	open_loop->stop(&w, at + 11500000);
	tap_ok(w.seen.n == 10 && w.sent.n == 0,
	    "requests that wait are left to the next slice");
	at = 1000000000;
	begin_slice(&w, at, 1000000);
	open_loop->dispatch(&w, at);
	tap_ok(w.seen.n == 12,
	    "requests that were due before the last reply are left, too");
	tap_ok(open_loop->next(&w) == at + 500000,
	    "the next slice continues from the last reply");
	open_loop->dispatch(&w, at + 999999);
	tap_ok(w.seen.n == 13 && w.measured == (by_duration ? 0 : 1),
	    "with a number of requests those from the begin of the slice "
	    "count");
	open_loop->dispatch(&w, at + 10000000);
	tap_ok(w.measured == (by_duration ? 9 : 10),
	    "with a duration those after its head count");
	open_loop->stop(&w, at + 10000000);
	at *= 2;
	begin_slice(&w, at, 1000000);
	open_loop->dispatch(&w, at + 10000000);
	tap_ok(w.measured == (by_duration ? 18 : 20),
	    "so it is in the next slice");
	open_loop->stop(&w, at + 10000000);
	r.pauses = false;
	w.all.latency = HIST_LATENCY();
	open_loop->stop(&w, at + 10000000);
	tap_ok(hist_count(w.all.latency) == 18 &&
		hist_max(w.all.latency) < 20000000,
	    "the last slice records requests that were never sent, with their "
	    "age without the pauses");
	hist_free(w.all.latency);
	free(w.windows);
}

/* With a duration requests that are due have 0.1 s more to be sent. */
static void
drains(void)
{
	struct run r = {
	    .together = 1, .requests = RUN_ENDLESS, .t0 = 0, .t1 = 1000000000};
	struct pool p = {0};
	struct worker w = {
	    .run = &r, .pools = &p, .npools = 1, .share = RUN_ENDLESS};

	w.loop.now = r.t1;
	tap_ok(open_loop->done(&w),
	    "at the end the thread is done if nothing waits");
	w.loop.now = r.t1 - 1;
	tap_ok(!open_loop->done(&w), "before the end the thread is not done");
	w.seen.n = 1;
	w.loop.now = r.t1 + 99999999;
	tap_ok(!open_loop->done(&w),
	    "requests that wait are sent until 0.1 s after the end");
	w.loop.now++;
	tap_ok(open_loop->done(&w), "requests that wait longer are not sent");
	r.pauses = true;
	w.loop.now = r.t1;
	tap_ok(
	    open_loop->done(&w), "before a pause requests that wait are left");
}

/* Requests that are due look for a connection until 0.1 s after the end, not
 * longer. */
static void
tries(void)
{
	static const struct {
		int64_t at_ns;
		size_t left;
	} v[] = {{-1, 0}, {99999999, 0}, {100000000, 1}};
	struct engine_work work = {.rate = 1000};
	struct conn c = {.state = CONN_DOWN}, *ring[1] = {&c};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		struct run r = {.together = 1,
		    .work = &work,
		    .arrivals = arrivals_find(&work),
		    .nworkers = 1,
		    .pipeline = 1,
		    .t1 = RUN_SECOND};
		struct pool p = {.idle = ring, .nconns = 1, .nidle = 1};
		struct worker w = {
		    .run = &r, .pools = &p, .npools = 1, .share = RUN_ENDLESS};

		open_loop->start(&w);
		open_loop->dispatch(&w, r.t1 + v[i].at_ns);
		tap_ok(w.seen.n == 1000 && p.nidle == v[i].left,
		    "%lld ns after the end %zu connections are not used",
		    (long long)v[i].at_ns, v[i].left);
		free(w.windows);
	}
}

/* A trace whose only command is due 10 s after its start. */
static void
replayed(void)
{
	char path[] = "/tmp/vkb-pools.XXXXXX";
	int fd = mkstemp(path);
	struct tracefile_writer *file = tracefile_writer_new(fd, path);
	struct tracefile_word word = {"PING", 4};
	struct tracefile_command c = {
	    .at_us = 10000000, .n = 1, .words = &word};
	struct engine_work work = {
	    .replay = path, .replay_speed = 1, .clients = 1};
	struct run r = {.work = &work,
	    .arrivals = arrivals_find(&work),
	    .start = 5000,
	    .t1 = 5000 + 11 * RUN_SECOND,
	    .nworkers = 1};
	struct worker w = {.run = &r, .nclients = 1};
	const struct pacing *timed = r.arrivals->pacing;
	struct tracefile_totals totals;

	tap_ok(tracefile_writer_connect(file, "a", &c.conn) == 0 &&
		tracefile_writer_add(file, &c) == 0 &&
		tracefile_writer_end(file, &totals) == 0,
	    "a trace is written");
	w.dealer = dealer_new(&w);
	timed->start(&w);
	tap_ok(timed->next(&w) == 5000 + 10 * RUN_SECOND,
	    "a command of a trace is due at its time");
	r.t1 = 5000 + 10 * RUN_SECOND;
	tap_ok(timed->next(&w) == INT64_MAX,
	    "none is at the end of the measured time or later");
	dealer_free(w.dealer);
	tracefile_writer_free(file);
	close(fd);
	unlink(path);
}

int
main(void)
{
	open_loop = arrivals_find(&(struct engine_work){.rate = 1})->pacing;
	backlogs();
	draws();
	idle();
	remapped();
	schedule();
	repeats();
	pauses(true);
	pauses(false);
	drains();
	tries();
	replayed();
	return tap_done();
}
