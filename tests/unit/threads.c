/* How a run is divided among its threads, and which of their answers count. */
#include "tap.h"

#include "err.h"
#include "hist.h"
#include "mem.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/counters.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/run.h"
#include "vkb-load/engine/slotmap.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct pacing *closed_loop;

static struct gate gate = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static struct engine_node nodes[2] = {
    {.unixsocket = "/no/a"}, {.unixsocket = "/no/b"}};

static void
begin(struct run *r, const struct engine_target *t, const struct engine_work *w)
{
	struct run_options o = {.source = cmdsource_open(t, w),
	    .space = run_space(w),
	    .only_node = SIZE_MAX};

	*r = (struct run){.gate = NULL};
	tap_ok(threads_init(r, &gate, t, w, &o) == 0, "%s: a run is prepared",
	    w->command);
}

static void
end(struct run *r)
{
	struct cmdsource *s = (struct cmdsource *)(uintptr_t)r->source;

	threads_free(r);
	s->ops->free(s);
}

static void
shares(void)
{
	struct engine_target t = {.nodes = nodes, .nnodes = 2};
	struct engine_work w = {.command = "GET",
	    .clients = 8,
	    .threads = 3,
	    .pipeline = 5,
	    .requests = 100,
	    .timeout_s = 1.5,
	    .keyspacelen = 77};
	struct run r;

	begin(&r, &t, &w);
	tap_ok(r.nworkers == 3 && r.workers[0].nclients == 3 &&
		r.workers[1].nclients == 3 && r.workers[2].nclients == 2,
	    "eight clients are divided among three threads");
	tap_ok(r.workers[0].share == 34 && r.workers[1].share == 33 &&
		r.workers[2].share == 33,
	    "a hundred requests are divided among them");
	tap_ok(r.workers[2].index == 2 && r.workers[2].run == &r &&
		r.workers[2].loop.ep == -1 &&
		r.workers[2].loop.setup == &r.setup,
	    "each thread has its number");
	tap_ok(r.timeout_ns == 1500000000 && r.requests == 100 &&
		r.pipeline == 5 && r.space == 77 && !r.by_key && !r.strict &&
		r.only_node == SIZE_MAX && r.latency && !r.service,
	    "a run has the settings of its work");
	tap_ok(r.setup.n == 0 && r.setup.replies == 0 && r.setup.send_room == 0,
	    "a connection without settings sends nothing before its requests");
	tap_ok(atomic_load(&r.map)->n == 2, "the run has all nodes");
	end(&r);
	w.clients = 2;
	w.requests = 0;
	w.duration_s = 3;
	w.timeout_s = 0;
	w.rate = 10;
	begin(&r, &t, &w);
	tap_ok(r.nworkers == 2 && r.workers[1].nclients == 1,
	    "there are no more threads than clients");
	tap_ok(r.requests == RUN_ENDLESS && r.workers[0].share == RUN_ENDLESS,
	    "with a duration the number of requests is not limited");
	tap_ok(r.timeout_ns == 60 * RUN_SECOND && r.service,
	    "the default timeout is a minute");
	end(&r);
}

static void
is_setup(struct engine_target t, bool resp3, unsigned replies, const char *want)
{
	struct engine_work w = {.command = "GET",
	    .clients = 1,
	    .threads = 1,
	    .pipeline = 1,
	    .requests = 1,
	    .resp3 = resp3};
	struct run r;

	t.nodes = nodes;
	t.nnodes = 1;
	begin(&r, &t, &w);
	tap_str(
	    r.setup.text, want, "the commands that a connection sends first");
	tap_ok(r.setup.n == strlen(want) && r.setup.replies == replies,
	    "it waits for %u replies to them", replies);
	end(&r);
}

static void
setups(void)
{
	struct engine_target t = {.nodes = nodes, .nnodes = 1};
	struct engine_work w = {.command = "SET",
	    .clients = 1,
	    .threads = 1,
	    .requests = 1,
	    .pipeline = 8,
	    .data_size = 65536};
	struct run r;
	size_t len;

	is_setup((struct engine_target){.password = "p", .db = 12}, true, 3,
	    "*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n"
	    "*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n");
	is_setup(
	    (struct engine_target){.user = "me", .password = "pw", .db = 1},
	    false, 2,
	    "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$2\r\npw\r\n"
	    "*2\r\n$6\r\nSELECT\r\n$1\r\n1\r\n");
	begin(&r, &t, &w);
	tap_ok(r.setup.send_room == 128 * 1024,
	    "batches of more than 512 KB are sent in parts of 128 KB");
	len = r.source->len;
	end(&r);
	w.data_size -= (long long)len - 65536;
	begin(&r, &t, &w);
	tap_ok(r.source->len == 65536 && r.setup.send_room == 0,
	    "batches of 512 KB are sent as a whole: %zu", r.source->len);
	end(&r);
}

static void
checks(void)
{
	struct engine_target t = {.nodes = nodes, .nnodes = 1};
	struct engine_work w = {.command = "GET",
	    .clients = 1,
	    .threads = 1,
	    .pipeline = 1,
	    .requests = 1,
	    .keyspacelen = 1000000000000};

	tap_ok(run_check(&t, &w) == 0, "keys may have twelve digits");
	w.keyspacelen++;
	tap_ok(run_check(&t, &w) == -1, "keys of thirteen digits are refused");
	tap_str(err_last(), "keyspacelen 1000000000001 has more than 12 digits",
	    "the message has the number of digits");
	tap_ok(run_space(&w) == 1000000000001,
	    "the key space has the configured size");
	w.keyspacelen = 0;
	tap_ok(run_space(&w) == 1, "the key space has at least one key");
}

/* Checks that the program ends if its work is one that no configuration
 * allows. */
static void
dies(size_t nnodes, struct engine_work w, const char *what)
{
	struct engine_target t = {.nodes = nodes, .nnodes = nnodes};
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		run_check(&t, &w);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == (*what ? 2 : 0),
	    "a run needs %s", *what ? what : "nothing else");
}

static void
deaths(void)
{
	const struct engine_work good = {.command = "GET",
	    .clients = 1,
	    .threads = 1,
	    .pipeline = 1,
	    .requests = 1};
	struct engine_work w = good;

	dies(1, w, "");
	dies(0, w, "a node");
	w.clients = 0;
	dies(1, w, "a client");
	w = good;
	w.threads = 0;
	dies(1, w, "a thread");
	w = good;
	w.pipeline = 0;
	dies(1, w, "at least one request in a batch");
	w = good;
	w.data_size = -1;
	dies(1, w, "values of at least 0 bytes");
	w = good;
	w.warmup_s = -1;
	dies(1, w, "a warm-up of at least 0 s");
	w = good;
	w.rate = -1;
	dies(1, w, "a rate of at least 0");
	w = good;
	w.requests = 0;
	dies(1, w, "requests or a duration");
	w.duration_s = .1;
	dies(1, w, "");
}

struct metered {
	int begun, ended;
	volatile int stop;
};

static void
note_connected(void *arg, const pid_t *tids, size_t n)
{
	(void)arg;
	(void)tids;
	(void)n;
}

static void
note_begin(void *arg)
{
	struct metered *m = arg;

	m->begun++;
	m->stop = 1;
}

static void
note_end(void *arg)
{
	struct metered *m = arg;

	m->ended++;
}

/* A run without a warm-up is stopped while its meter begins. Its connection is
 * never accepted, and nothing is sent. */
static void
stopped_while_metered(void)
{
	struct sockaddr_in a = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct engine_node node = {.host = "127.0.0.1"};
	struct engine_target t = {.nodes = &node, .nnodes = 1};
	struct engine_work w = {.command = "PING_MBULK",
	    .clients = 1,
	    .threads = 1,
	    .pipeline = 1,
	    .requests = 1};
	struct metered seen = {0};
	struct engine_meter m = {.connected = note_connected,
	    .begin = note_begin,
	    .end = note_end,
	    .arg = &seen};
	struct engine_result r = {0};
	int rc;

	if (bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		err_die("no port");
	node.port = ntohs(a.sin_port);
	rc = engine_run(&t, &w, 1, &seen.stop, NULL, NULL, &m, &r);
	tap_ok(rc == -1 && seen.begun == 1 && seen.ended == 1,
	    "a meter that has begun ends, though the run does not begin");
	engine_result_free(&r);
	close(fd);
}

/* A thread takes a part of the requests that are left, in whole batches. */
static void
takes(void)
{
	struct engine_work w = {.requests = 1000};
	struct run r = {.gate = &gate,
	    .work = &w,
	    .arrivals = arrivals_find(&w),
	    .chooser = &chooser_uniform,
	    .requests = 1000,
	    .nworkers = 2,
	    .pipeline = 10,
	    .from = 50,
	    .t1 = 100};
	struct worker v[2] = {{.run = &r}, {.run = &r}};
	struct conn c = {.counted = true};

	r.workers = v;
	tap_ok(run_take_share(&v[0]) && v[0].at == 0 && v[0].end == 120,
	    "the first of two threads takes an eighth of 1000 requests, in "
	    "whole batches");
	tap_ok(run_take_share(&v[1]) && v[1].at == 120 && v[1].end == 230,
	    "the second thread takes an eighth of the rest");
	r.next = 995;
	tap_ok(run_take_share(&v[0]) && v[0].at == 995 && v[0].end == 1000,
	    "the last batch may be smaller");
	v[1].at = v[1].end;
	tap_ok(!run_is_made(&r), "requests that were taken are not made yet");
	v[0].at = 1000;
	r.next = 999;
	tap_ok(
	    !run_is_made(&r), "requests that no thread has taken are not made");
	r.next = 1000;
	tap_ok(run_is_made(&r), "the run is made when all requests were sent");
	tap_ok(!run_take_share(&v[0]), "then no requests can be taken");
	tap_ok(run_take(&v[0], &c, 49) == 10 && !c.counted && !v[0].ending,
	    "before the measured time a full batch is sent, which does not "
	    "count");
	tap_ok(run_take(&v[0], &c, 50) == 0 && c.counted && v[0].ending,
	    "in the measured time only requests that were taken are sent");
	v[0].ending = false;
	v[0].at = 993;
	tap_ok(run_take(&v[0], &c, 99) == 7 && v[0].at == 1000,
	    "a batch has at most the requests that the thread has taken");
	v[0].at = 990;
	tap_ok(run_take(&v[0], &c, 100) == 0 && v[0].ending,
	    "at the end no request is sent");
	v[0].ending = false;
	r.requests = RUN_ENDLESS;
	v[0].at = v[0].end = r.next = 0;
	tap_ok(run_take(&v[0], &c, 60) == 10 && c.counted && v[0].end == 0,
	    "with a duration no requests are taken");
	tap_ok(run_take_share(&v[0]) && v[0].end == 65530,
	    "keys in order are taken with a duration too, many at a time");
	v[0].at = v[0].end;
	tap_ok(!run_is_made(&r),
	    "a run with a duration is not made by its requests");
}

/* Closed loop: which answers count, and which have a latency. */
static void
answers(void)
{
	struct engine_work w = {.batch_first_byte = false};
	struct run r = {.gate = &gate,
	    .work = &w,
	    .arrivals = arrivals_find(&w),
	    .requests = RUN_ENDLESS,
	    .t0 = 1000,
	    .t1 = 2000};
	struct worker v = {.run = &r,
	    .all.latency = HIST_LATENCY(),
	    .interval_end = INT64_MAX,
	    .all.taken = 1};
	struct conn c = {.start_ns = 900, .counted = true};

	tap_ok(!closed_loop->answered(&v, &c, 999, 3) && v.all.counted == 0 &&
		hist_count(v.all.latency) == 0,
	    "an answer before the measured time does not count");
	tap_ok(closed_loop->answered(&v, &c, 1000, 3) && v.all.counted == 2 &&
		v.interval_counted == 2 && hist_count(v.all.latency) == 2,
	    "an answer in the measured time counts; redirected ones do not");
	tap_ok(hist_min(v.all.latency) == 100 && hist_max(v.all.latency) == 100,
	    "its latency is the time since its batch was sent");
	tap_ok(closed_loop->answered(&v, &c, 1999, 2) && v.all.counted == 3,
	    "an answer in the last nanosecond counts");
	tap_ok(!closed_loop->answered(&v, &c, 2000, 2) && v.all.counted == 3 &&
		v.interval_counted == 3 && hist_count(v.all.latency) == 4,
	    "a late answer has a latency and does not count");
	r.requests = 10;
	c.counted = false;
	tap_ok(!closed_loop->answered(&v, &c, 1500, 2) && v.all.counted == 3 &&
		hist_count(v.all.latency) == 4,
	    "with a number of requests an answer counts if its batch does");
	c.counted = true;
	tap_ok(closed_loop->answered(&v, &c, 990, 2) && v.all.counted == 4 &&
		hist_count(v.all.latency) == 4,
	    "in the head of a slice an answer counts and has no latency");
	w.batch_first_byte = true;
	v.all.taken = 0;
	hist_clear(v.all.latency);
	closed_loop->answered(&v, &c, 1100, 1);
	closed_loop->answered(&v, &c, 1900, 1);
	tap_ok(hist_count(v.all.latency) == 2 &&
		hist_max(v.all.latency) < 220 && c.first_ns == 1100,
	    "the latency of a batch may end with its first byte");
	tap_ok(closed_loop->redirected(&v,
		   &(struct redirected){.start_ns = 1000, .counted = true},
		   1500) &&
		v.all.counted == 7 && hist_max(v.all.latency) > 450,
	    "a redirected request counts by itself");
	v.loop.now = 1999;
	tap_ok(!closed_loop->done(&v) && !v.ending,
	    "before its end the run is not done");
	v.loop.now = 2000;
	v.loop.busy = 1;
	tap_ok(!closed_loop->done(&v) && v.ending,
	    "after its end the run waits for replies");
	v.loop.busy = 0;
	v.nredirected = 1;
	tap_ok(!closed_loop->done(&v),
	    "after its end the run waits for redirected requests");
	v.nredirected = 0;
	v.again = 1;
	tap_ok(!closed_loop->done(&v),
	    "after its end lost requests are sent again");
	atomic_store(&gate.lost_too_much, true);
	tap_ok(closed_loop->done(&v),
	    "with too many losses the run does not wait");
	atomic_store(&gate.lost_too_much, false);
	v.again = 0;
	tap_ok(closed_loop->done(&v), "without open requests the run is done");
	hist_free(v.all.latency);
}

/* Error replies to the first commands of a connection end a run, other error
 * replies are counted. */
static void
errors(void)
{
	struct engine_target t = {.cluster = true};
	struct engine_work w = {.command = "GET"};
	struct slotmap_node n = {.port = 1};
	struct run r = {.gate = &gate, .target = &t, .work = &w};
	struct worker v = {.run = &r};
	struct conn c = {.state = CONN_READY, .node = &n};
	char name[] = "n:7";

	n.name = name;
	tap_ok(counters_count_error_reply(&v, &c, "OOM no memory") &&
		v.all.nerrors == 1 && v.all.errors[0].count == 1 && !r.stale,
	    "an error reply is counted");
	tap_str(v.all.errors[0].kind, "OOM", "its kind is the first word");
	tap_str(v.all.errors[0].text, "OOM no memory", "its text is kept");
	counters_count_error_reply(&v, &c, "MOVED 1 h:1");
	tap_ok(atomic_load(&r.stale), "after MOVED the slots are read again");
	counters_count_refused(&v.all, "OOM first");
	counters_count_refused(&v.all, "OOM second");
	tap_str(v.all.refusal, "OOM first", "the first refusal is kept");
	counters_count_answers(&v, false, 5, 99);
	tap_ok(v.all.misses == 0 && v.all.refused == 0 && v.last_ns == 0 &&
		v.all.wrong == 0,
	    "counts of answers that do not count are dropped");
	counters_count_refused(&v.all, "OOM");
	counters_count_answers(&v, true, 5, 99);
	tap_ok(v.all.misses == 5 && v.all.refused == 1 && v.last_ns == 99 &&
		v.all.wrong == 0,
	    "counts of answers that count are kept with their time");
	r.strict = true;
	tap_ok(!counters_count_error_reply(&v, &c, "OOM no") && r.failed,
	    "while servers are filled an error reply fails the run");
	tap_str(
	    err_last(), "'n:7' answered: OOM no", "the message has the reply");
	r.strict = r.failed = false;
	c.state = CONN_SETUP;
	tap_ok(!counters_count_error_reply(&v, &c, "NOAUTH") && r.failed,
	    "an error reply to the first commands fails the run");
}

int
main(void)
{
	closed_loop = arrivals_find(&(struct engine_work){.rate = 0})->pacing;
	if (!freopen("/dev/null", "w", stderr)) /* messages of failed runs */
		return 2;
	shares();
	setups();
	checks();
	deaths();
	stopped_while_metered();
	takes();
	answers();
	errors();
	return tap_done();
}
