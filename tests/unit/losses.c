/* Requests without an answer: how they are counted, and the messages about
 * them. */
#include "tap.h"

#include "err.h"
#include "hist.h"
#include "mem.h"
#include "vkb-load/engine/counters.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/losses.h"
#include "vkb-load/engine/redirect.h"
#include "vkb-load/engine/run.h"
#include "vkb-load/engine/slotmap.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define NOW (100 * RUN_SECOND)
#define TIMEOUT INT64_C(1500000000)
#define PIPELINE 4

static char name[] = "n:7", host[] = "n";

/* A thread with one connection, in a run that is being measured. */
struct scene {
	struct gate gate;
	struct engine_target target;
	struct engine_work work;
	struct slotmap_node node;
	struct conn_setup setup;
	struct run run;
	struct worker worker;
	struct conn conn, *conns[1];
	int64_t due[PIPELINE], written[PIPELINE];
};

static void
begin(struct scene *s, double rate)
{
	*s = (struct scene){.work = {.command = "GET", .rate = rate},
	    .node = {.name = name, .host = host, .port = 7}};
	pthread_mutex_init(&s->gate.lock, NULL);
	pthread_cond_init(&s->gate.changed, NULL);
	s->run = (struct run){.gate = &s->gate,
	    .target = &s->target,
	    .work = &s->work,
	    .arrivals = arrivals_find(&s->work),
	    .requests = RUN_ENDLESS,
	    .pipeline = PIPELINE,
	    .timeout_ns = TIMEOUT,
	    .slice = 1,
	    .workers = &s->worker,
	    .nworkers = 1,
	    .t0 = NOW - RUN_SECOND,
	    .t1 = NOW + RUN_SECOND};
	s->conns[0] = &s->conn;
	s->worker = (struct worker){.run = &s->run,
	    .external = true,
	    .conns = s->conns,
	    .nconns = 1,
	    .loop = {.setup = &s->setup, .now = NOW, .ep = -1},
	    .all.latency = HIST_LATENCY(),
	    .all.service = HIST_LATENCY()};
	s->conn = (struct conn){.worker = &s->worker,
	    .loop = &s->worker.loop,
	    .node = &s->node,
	    .fd = -1,
	    .state = CONN_READY,
	    .due = s->due,
	    .written = s->written};
}

static void
end(struct scene *s)
{
	hist_free(s->worker.all.latency);
	hist_free(s->worker.all.service);
	redirect_free(&s->worker);
	pthread_cond_destroy(&s->gate.changed);
	pthread_mutex_destroy(&s->gate.lock);
}

/* Sends n requests on the connection that get no answer, in closed loop. */
static void
send(struct scene *s, uint32_t n, int64_t start)
{
	s->conn.start_ns = start;
	s->conn.awaited = n;
	s->worker.loop.busy = 1;
	s->worker.loop.nready = 1;
}

static void
limits(void)
{
	struct scene s;

	begin(&s, 0);
	s.work.max_lost = 3;
	losses_add(&s.run, 0, "nothing");
	tap_ok(s.gate.losses == 0 && !*s.gate.cause, "0 losses are not a loss");
	losses_add(&s.run, 3, "the first of %d", 2);
	tap_ok(s.gate.losses == 3 && !atomic_load(&s.gate.lost_too_much),
	    "as many losses as the limit are allowed");
	losses_add(&s.run, 1, "the second");
	tap_ok(s.gate.losses == 4 && atomic_load(&s.gate.lost_too_much),
	    "one more loss is too many");
	tap_str(s.gate.cause, "the first of 2", "the first loss is the cause");
	end(&s);
}

static void
fails(void)
{
	struct scene s;
	struct worker two[2];
	struct run runs[2];

	begin(&s, 0);
	s.work.max_lost = 3;
	two[0] = (struct worker){
	    .all.lost = 1, .all.unanswered = 2, .reconnects = 3};
	two[1] = (struct worker){.all.lost = 10,
	    .all.unanswered = 20,
	    .reconnects = 30,
	    .all.refusal = "ERR max number of clients reached"};
	runs[0] = runs[1] = s.run;
	runs[0].workers = &two[0];
	runs[1].workers = &two[1];
	tap_ok(!losses_fail(runs, 2), "a run without losses is ok");
	losses_add(&s.run, 4, "why");
	tap_ok(losses_fail(runs, 2), "a run with too many losses fails");
	tap_str(err_last(),
	    "why (the server answered 'ERR max number of clients reached'); "
	    "11 lost, 22 unanswered, 33 reconnects, where max_lost allows 3",
	    "the losses of all threads of all streams are reported");
	*two[1].all.refusal = '\0';
	losses_fail(runs, 1);
	tap_str(err_last(),
	    "why; 1 lost, 2 unanswered, 3 reconnects, where max_lost allows "
	    "3",
	    "the message begins with the server's answer, or with the first "
	    "loss");
	end(&s);
}

static void
timeouts(void)
{
	struct scene s;

	begin(&s, 0);
	tap_ok(!losses_is_expired(&s.worker, &s.conn, 0, NOW),
	    "a connection without requests does not time out");
	s.conn.awaited = 1;
	tap_ok(!losses_is_expired(&s.worker, &s.conn, NOW - TIMEOUT, NOW),
	    "a reply at the timeout is in time");
	tap_ok(losses_is_expired(&s.worker, &s.conn, NOW - TIMEOUT - 1, NOW),
	    "a reply after the timeout is late");
	s.run.strict = true;
	tap_ok(!s.run.failed &&
		!losses_is_expired(&s.worker, &s.conn, NOW - TIMEOUT, NOW) &&
		!s.run.failed,
	    "while servers are filled a reply at the timeout is in time");
	losses_is_expired(&s.worker, &s.conn, NOW - TIMEOUT - 1, NOW);
	tap_ok(s.run.failed && atomic_load(&s.run.halt) == 2,
	    "while servers are filled a late reply fails the run");
	tap_str(err_last(), "no reply from 'n:7' for 1.5 s",
	    "the message has the timeout in seconds");
	end(&s);
}

static void
expires(void)
{
	struct scene s;

	begin(&s, 0);
	s.work.max_lost = 100;
	send(&s, 3, NOW - TIMEOUT);
	s.conn.refills = 1;
	losses_expire(&s.worker, &s.conn, NOW);
	tap_ok(s.conn.awaited == 3 && s.worker.all.unanswered == 0,
	    "a request that is not late is waited for");
	losses_expire(&s.worker, &s.conn, NOW + 5);
	tap_ok(s.worker.all.unanswered == 2 && s.worker.reconnects == 1 &&
		s.gate.losses == 3,
	    "late requests and the connection are counted as losses, refills "
	    "are not");
	tap_str(s.gate.cause, "no reply from 'n:7' to GET for 1.5 s",
	    "a late reply is reported with the timeout");
	tap_ok(s.conn.state == CONN_DOWN && s.conn.down_ns == NOW + 5 &&
		s.conn.retry_ns == NOW + 5 && s.worker.loop.busy == 0 &&
		s.worker.loop.nready == 0,
	    "the connection is to be opened again at once");
	tap_ok(hist_count(s.worker.all.latency) == 2 &&
		hist_max(s.worker.all.latency) >= TIMEOUT &&
		hist_max(s.worker.all.latency) < TIMEOUT + TIMEOUT / 50,
	    "the latency of a late request is its age");
	end(&s);
	begin(&s, 0);
	s.work.max_lost = 100;
	send(&s, 3, NOW - TIMEOUT - 1);
	s.worker.ending = true;
	losses_expire(&s.worker, &s.conn, NOW);
	tap_ok(s.worker.all.unanswered == 3 && s.worker.reconnects == 0 &&
		s.gate.losses == 3,
	    "at the end of a run the connection is not opened again");
	end(&s);
	begin(&s, 0);
	s.work.max_lost = 2;
	send(&s, 3, NOW - TIMEOUT - 1);
	losses_expire(&s.worker, &s.conn, NOW);
	tap_ok(s.worker.all.unanswered == 3 && s.worker.reconnects == 0,
	    "after too many losses the connection is not opened again");
	end(&s);
}

/* In open loop the times of each request are in a ring. */
static void
open_loop(void)
{
	struct scene s;
	struct hist *l, *v;

	begin(&s, 1000);
	l = s.worker.all.latency;
	v = s.worker.all.service;
	s.work.max_lost = 100;
	send(&s, 3, NOW);
	s.conn.oldest = 3;
	s.due[3] = NOW - 1000;
	s.written[3] = NOW - 100;
	s.due[0] = RUN_NOT_COUNTED;
	s.due[1] = NOW - 4000;
	s.written[0] = s.written[1] = NOW - 400;
	losses_expire(&s.worker, &s.conn, NOW - 100 + TIMEOUT);
	tap_ok(s.worker.all.unanswered == 0,
	    "the timeout begins when a request is written");
	losses_expire(&s.worker, &s.conn, NOW - 99 + TIMEOUT);
	tap_ok(s.worker.all.unanswered == 3 && s.conn.oldest == 2,
	    "all late requests of the ring are given up");
	tap_ok(hist_count(l) == 2 && hist_count(v) == 2,
	    "requests that are not counted have no latency");
	tap_near((double)hist_max(l), (double)(TIMEOUT + 3901), .01,
	    "their latency begins when they are due");
	end(&s);
	begin(&s, 1000);
	l = s.worker.all.latency;
	v = s.worker.all.service;
	send(&s, 1, NOW);
	s.due[0] = NOW - 10000000;
	s.written[0] = NOW - 1000000;
	losses_count_unfinished(&s.worker, NOW);
	tap_near((double)hist_max(l), 1e7, .01,
	    "at the end the latency of a request in flight is its age");
	tap_near((double)hist_max(v), 1e6, .01,
	    "its service time is the time since it was written");
	end(&s);
}

static void
unfinished(void)
{
	struct scene s;

	begin(&s, 0);
	s.work.max_lost = 100;
	send(&s, 2, NOW - 5000);
	losses_count_unfinished(&s.worker, NOW);
	tap_ok(s.worker.all.unanswered == 2 && s.gate.losses == 2 &&
		hist_count(s.worker.all.latency) == 2,
	    "a request in flight at the end is unanswered");
	tap_str(s.gate.cause, "no reply from 'n:7' to GET until the end",
	    "the message says 'until the end'");
	tap_near((double)hist_min(s.worker.all.latency), 5000, .01,
	    "its age is a latency");
	end(&s);
	begin(&s, 0);
	s.conn.again = 2;
	s.worker.again = 1;
	send(&s, 0, NOW - 5000);
	losses_count_unfinished(&s.worker, NOW);
	tap_ok(s.worker.all.unanswered == 0 && s.worker.again == 0 &&
		s.conn.again == 0 && hist_count(s.worker.all.latency) == 2,
	    "a request that was lost with its connection is not counted again");
	end(&s);
	begin(&s, 0);
	s.run.t0 = NOW + 1;
	send(&s, 1, NOW - 5000);
	losses_count_unfinished(&s.worker, NOW);
	tap_ok(hist_count(s.worker.all.latency) == 0,
	    "with a duration, requests of the warm-up have no latency");
	s.run.t0 = NOW;
	send(&s, 1, NOW - 5000);
	losses_count_unfinished(&s.worker, NOW);
	tap_ok(hist_count(s.worker.all.latency) == 1,
	    "with a duration, latencies begin with the first nanosecond of the "
	    "measured time");
	s.run.requests = 10;
	losses_count_unfinished(&s.worker, NOW);
	tap_ok(hist_count(s.worker.all.latency) == 1,
	    "with a number of requests, those that do not count have no "
	    "latency");
	s.conn.counted = true;
	losses_count_unfinished(&s.worker, NOW);
	tap_ok(hist_count(s.worker.all.latency) == 2,
	    "with a number of requests, those that count have a latency");
	end(&s);
}

static void
breaks(void)
{
	struct scene s;

	begin(&s, 0);
	s.work.max_lost = 100;
	send(&s, 5, NOW - 5000);
	s.conn.refills = 2;
	tap_ok(losses_break(&s.conn, "gone", NOW - 7),
	    "a run continues after a connection broke");
	tap_ok(s.worker.all.lost == 3 && s.worker.reconnects == 1 &&
		s.gate.losses == 4 && s.conn.again == 3 &&
		s.worker.again == 1 && s.conn.down_ns == NOW - 7,
	    "its requests are counted as lost, and will be sent again");
	tap_str(s.gate.cause, "lost the connection to 'n:7' during GET: gone",
	    "the message names the command");
	tap_ok(s.worker.all.nerrors == 1 && s.worker.all.errors[0].count == 1,
	    "a lost connection is counted as an error");
	tap_str(s.worker.all.errors[0].kind, "connection lost",
	    "the error has the kind 'connection lost'");
	tap_str(s.worker.all.errors[0].text, "n:7: gone",
	    "the error names the node");
	tap_ok(!atomic_load(&s.run.stale),
	    "without a cluster the slots are not read again");
	s.target.cluster = true;
	s.worker.external = false;
	losses_break(&s.conn, "gone", NOW);
	tap_ok(s.worker.all.lost == 3 && s.worker.reconnects == 1 &&
		s.gate.losses == 4 && s.worker.all.errors[0].count == 2,
	    "outside of a run a lost connection is an error, but no loss");
	tap_ok(
	    atomic_load(&s.run.stale), "in a cluster the slots are read again");
	end(&s);
	begin(&s, 0);
	send(&s, 0, NOW);
	losses_break(&s.conn, "gone", NOW);
	tap_ok(s.conn.again == 0 && s.worker.again == 0 && s.gate.losses == 1 &&
		s.worker.reconnects == 1,
	    "a connection without requests is one loss");
	end(&s);
	begin(&s, 0);
	s.conn.state = CONN_CONNECTING;
	tap_ok(losses_break(&s.conn, "no", NOW) && s.worker.all.nerrors == 0 &&
		!s.run.failed,
	    "a connection that cannot be reopened is tried again");
	s.run.slice = 0;
	tap_ok(!losses_break(&s.conn, "no", NOW) && s.run.failed,
	    "a connection that cannot be opened the first time fails the run");
	tap_str(err_last(), "cannot connect to 'n:7': no",
	    "the message names the node");
	end(&s);
	begin(&s, 0);
	s.run.strict = true;
	tap_ok(!losses_break(&s.conn, "gone", NOW) && s.run.failed,
	    "while servers are filled a lost connection fails the run");
	tap_str(err_last(), "connection lost to 'n:7': gone",
	    "the message names the server");
	end(&s);
}

static void
nonsense(void)
{
	struct scene s;

	begin(&s, 0);
	losses_fail_on_nonsense(&s.conn, "HTTP/1.1");
	tap_str(err_last(), "bad reply from 'n:7' to GET: HTTP/1.1",
	    "the message quotes a reply that is not RESP");
	end(&s);
	begin(&s, 0);
	s.conn.state = CONN_SETUP;
	losses_fail_on_nonsense(&s.conn, "HTTP/1.1");
	tap_str(err_last(),
	    "bad reply from 'n:7' to AUTH, HELLO or SELECT: HTTP/1.1",
	    "the message names the first commands of a connection");
	end(&s);
}

/* What a tick does with a connection that is not ready yet. */
static void
ticks(void)
{
	static const struct {
		enum conn_state state;
		const char *says;
	} v[] = {{CONN_DOWN, "cannot reach 'n:7' for 1.5 s"},
	    {CONN_CONNECTING, "cannot connect to 'n:7' within 1.5 s"},
	    {CONN_TLS,
		"cannot connect to 'n:7' within 1.5 s: no answer to the TLS "
		"handshake (the port may not speak TLS)"},
	    {CONN_SETUP,
		"cannot connect to 'n:7' within 1.5 s: no reply to AUTH, "
		"HELLO or SELECT"}};
	struct scene s;

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		begin(&s, 0);
		s.conn.state = v[i].state;
		s.conn.since_ns = s.conn.down_ns = NOW - TIMEOUT;
		s.conn.retry_ns = NOW + 1;
		tap_ok(!losses_check(&s.worker, &s.conn, NOW) && !s.run.failed,
		    "state %zu: a wait as long as the timeout is allowed", i);
		s.conn.since_ns--;
		s.conn.down_ns--;
		losses_check(&s.worker, &s.conn, NOW);
		tap_ok(
		    s.run.failed, "state %zu: a longer wait fails the run", i);
		tap_str(err_last(), v[i].says, v[i].says);
		end(&s);
	}
	begin(&s, 0);
	tap_ok(losses_check(&s.worker, &s.conn, NOW),
	    "a ready connection is not waited for");
	s.conn.state = CONN_DOWN;
	s.conn.down_ns = NOW - TIMEOUT - 1;
	atomic_store(&s.gate.lost_too_much, true);
	tap_ok(!losses_check(&s.worker, &s.conn, NOW) && !s.run.failed,
	    "a run that has failed does not fail again");
	end(&s);
}

/* A request that the server cannot answer yet is sent again later. */
static void
later(void)
{
	struct cmdsource *o;
	struct scene s;
	struct conn *c = &s.conn;

	begin(&s, 0);
	s.work.max_lost = 100;
	o = cmdsource_open(&s.target, &s.work);
	s.run.source = o;
	s.run.chooser = chooser_new(&s.work, 1, NULL);
	s.node.keys = (struct keys){.space = 1, .count = 1};
	c->from.chooser = c->cursor.chooser = s.run.chooser;
	c->batch = 1;
	send(&s, 1, NOW - TIMEOUT / 2 + 50000000);
	s.worker.loop.now = NOW + 1;
	tap_ok(!redirect_take(&s.worker, c, "LOADING it", 0),
	    "after half of the timeout LOADING is an error");
	s.worker.loop.now = NOW;
	tap_ok(!redirect_take(&s.worker, c, "ERR it", 0),
	    "another error is not sent again");
	tap_ok(!redirect_take(&s.worker, c, "LOADING it", 1),
	    "an error of a refill is not sent again");
	tap_ok(redirect_take(&s.worker, c, "LOADING it", 0) &&
		s.worker.nlater == 1 && s.worker.nredirected == 1 &&
		c->nredirected == 1 && s.worker.all.taken == 1,
	    "before half of the timeout the request is sent again later");
	redirect_check(&s.worker, NOW + 49999999);
	tap_ok(s.worker.nlater == 1, "it is sent after 50 ms");
	redirect_end(&s.worker, NOW + 1000);
	tap_ok(s.worker.nlater == 0 && s.worker.nredirected == 0 &&
		c->nredirected == 0 && s.worker.all.unanswered == 1 &&
		s.gate.losses == 1 && hist_count(s.worker.all.latency) == 1,
	    "at the end it is unanswered");
	tap_str(s.gate.cause, "no reply to GET from another node for 1.5 s",
	    "a request that waited until the end is reported");
	o->ops->free(o);
	chooser_free(s.run.chooser);
	end(&s);
}

int
main(void)
{
	if (!freopen("/dev/null", "w", stderr)) /* messages of failed runs */
		return 2;
	limits();
	fails();
	timeouts();
	expires();
	open_loop();
	unfinished();
	breaks();
	nonsense();
	ticks();
	later();
	return tap_done();
}
