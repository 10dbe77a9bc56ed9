#include "counting.h"
#include "callgrind.h"
#include "connect.h"
#include "engines.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "record.h"
#include "roles.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/template.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/plan/scene.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PROBE = 20,     /* requests that say what one costs */
	WINDOW = 10000, /* requests that are counted, if the case has no fewer,
			 * of no more instructions */
	WARMUP = 5, /* of so many that are counted, one before them, with those
		     * of the probe */
	MUCH = 100000, /* than these; no more to warm up else, and of ten times
			* as many instructions a tenth of the requests */
	LEAST = 10,    /* but no fewer */
	DUMPS = 3, /* of a part: the probe, the rest of its warm-up, itself */
	OBEY_MS = 120000 /* a dump of a large server on a busy machine */
};

#define STILL "vkb-still.so"

char *
counting_find_obstacle(void)
{
	char *valgrind = proc_find("valgrind", getenv("PATH"));
	char *still = proc_library(STILL);
	char *why = NULL;

#if !defined __x86_64__ && !defined __aarch64__
	why = mem_str("instructions are counted on x86-64 and arm64 only");
#endif
	if (!why && !valgrind)
		why = mem_str("instructions are counted by valgrind, which is "
			      "not in PATH: 'vkb-needs run' installs it "
			      "(package valgrind)");
	if (!why && !still)
		why = mem_str("'" STILL "', which makes counts exact, is "
			      "not in '../lib/vkb' beside vkb-load: 'make' "
			      "builds it");
	free(valgrind);
	free(still);
	return why;
}

/* Does it use data that other cases leave on the server? */
static bool
needs_others(const struct bench_case *c)
{
	return c->nbefore > 0 ||
	    (json_get_num(c->record, "step", 1) > 1 &&
		!scene_resets_server(c->record));
}

char *
counting_refuse(const struct bench_case *c)
{
	const struct bench_load *l = &c->load;
	const struct {
		bool holds;
		const char *why;
	} v[] = {{l->replay != NULL, "it replays a trace"},
	    {l->work.conns.reconnect || l->work.conns.storm_s > 0 ||
		    l->idle_clients || l->work.conns.tracking,
		"it has reconnects, idle connections or tracking"},
	    {l->cluster && json_get_num(c->server, "primaries", 0) == 1 &&
		    !json_get(c->server, "replicas"),
		"it has a cluster, whose node takes no command before its "
		"clock advances, which stands still"},
	    {l->cluster,
		"it has a cluster, whose nodes exchange messages at times "
		"that differ"},
	    {json_get_bool(c->server, "tls", false),
		"it has TLS, whose library executes other instructions on "
		"each CPU"},
	    {strcmp(bench_case_engine(c->config), BENCH_CASE_NATIVE) != 0,
		"its requests are made by another program"},
	    {needs_others(c),
		"it follows other cases on one server; with "
		"'flush_before', and 'populate_with' for its data, it can be"}};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		if (v[i].holds)
			return mem_str(v[i].why);
	return NULL;
}

double
counting_cost(const struct roles *r)
{
	double cost = .5 + 6e-6 * (double)r->works->keyspacelen;
	long long n;

	for (size_t i = 0; i < r->nown; i++) {
		n = r->works[r->v[i].first].requests;
		cost +=
		    .1 + .4 * (n > 0 && n < WINDOW ? (double)n / WINDOW : 1);
	}
	return cost;
}

const char *
counting_find_filler(const struct bench_case *c)
{
	const struct bench_load *l = &c->load;
	const struct engine_work *w = &l->work;
	bool wraps = w->duration_s > 0 ||
	    (!engine_is_ordered(w) && w->requests >= w->keyspacelen);
	char *verb = mem_strn(l->command, strcspn(l->command, " "));
	/* A command of the user may only read, and be slow. */
	bool writes = command_known(verb) &&
	    command_needs(verb) == NEEDS_NOTHING && !strchr(l->command, ';');

	free(verb);
	return !c->populate_with && wraps && writes && !l->mix && !l->data.path
	    ? l->command
	    : NULL;
}

/* --- the control socket of the server, see src/preload/vkb-still.c ------ */

/* Returns a blocking socket, or -1 with errno. */
static int
open_control(const char *path)
{
	int fd = connect_unix(path);

	if (fd >= 0 && fcntl(fd, F_SETFL, 0) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Sends one byte and waits for the answer. 0, or -1, error reported. */
static int
command_server(const struct json *server, char command)
{
	const char *path = json_str(json_path(server, "count.control"));
	int fd = path ? open_control(path) : -1;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char answer = '\0';
	int rc = 0;

	if (fd < 0)
		return err_fail_sys("cannot connect to the control socket of "
				    "the server '%s'",
		    path ? path : "");
	if (send(fd, &command, 1, MSG_NOSIGNAL) != 1 ||
	    poll(&p, 1, OBEY_MS) <= 0 || read(fd, &answer, 1) != 1 ||
	    answer != command)
		rc = err_fail("the server under callgrind does not %s",
		    command == 'd' ? "write what it counted"
				   : "start to count");
	close(fd);
	return rc;
}

/* --- the load ----------------------------------------------------------- */

void
counting_adapt(struct engine_work *w, uint64_t seed)
{
	w->clients = w->threads = 1;
	w->in_turn = true;
	if (w->requests <= 0 || w->requests > WINDOW)
		w->requests = WINDOW;
	w->duration_s = w->warmup_s = w->rate = 0;
	w->ramp = (struct ratespec){0};
	w->max_lost = w->verify = 0;
	w->seed = seed;
}

/* What the server writes of a part. */
struct dumps {
	const struct json *server;
	int n, rc;
};

static void
make_dump(struct dumps *d)
{
	if (d->rc == 0)
		d->rc = command_server(d->server, 'd');
	d->n++;
}

/* All are connected, and no request was sent: starts the counting here. */
static void
begin_window(void *arg, const pid_t *tids, size_t n)
{
	(void)tids;
	(void)n;
	make_dump(arg);
}

static void
end_window(void *arg)
{
	make_dump(arg);
}

/* Of all parts, those that are counted, and of this one the requests that have
 * been sent. */
struct share {
	const struct engine_job *job;
	double before, part;
};

static void
report_share(void *arg, const struct engine_progress *e)
{
	const struct share *s = arg;
	struct engine_progress all = *e;

	all.done = s->before + s->part * e->done;
	s->job->progress(s->job->arg, &all);
}

/* Sends requests to count them, or without a meter to warm up. Returns 0; 1,
 * silently, if the server refused some; -1 after reporting an error. */
static int
run_requests(const struct engine_job *j, size_t part,
    const struct engine_work *w, const struct engine_meter *meter,
    struct engine_result *result)
{
	double all = (double)j->nwork;
	struct share s = {j, (double)part / all, meter ? 1 / all : 0};
	int rc = engine_run(
	    &j->target->e, w, 1, j->stop, report_share, &s, meter, result);

	if (rc == 0 && result->requests != (uint64_t)w->requests)
		return err_fail("%llu of %lld requests were answered",
		    (unsigned long long)result->requests, w->requests);
	rc = rc == 0 && result->refused ? 1 : rc;
	if (rc == 0 && !meter) {
		engine_result_free(result);
		*result = (struct engine_result){0};
	}
	return rc;
}

static char *
make_dump_path(const struct json *server, size_t part, int dump)
{
	return mem_printf("%s.%zu", json_str(json_path(server, "count.dumps")),
	    DUMPS * part + (size_t)dump);
}

/* Returns how many requests are counted at most, by the dump of the probe, or
 * -1 after reporting an error. */
static long long
choose_window(const struct json *server, size_t part, long long probe)
{
	char *path = make_dump_path(server, part, 1);
	struct callgrind g;
	double cost = 0, much = MUCH;
	long long n = WINDOW;
	int rc = callgrind_open(&g, path);

	if (rc == 0 && g.nevents)
		cost = (double)g.total[0] / (double)probe;
	for (; n > LEAST && cost > much; much *= 10)
		n /= 10;
	callgrind_free(&g);
	free(path);
	return rc == 0 ? n : -1;
}

/* How many commands a transaction of this work has. */
static long long
find_transaction(const struct engine_work *w)
{
	const struct engine_target single = {0};
	char *why = NULL;
	struct template *t =
	    command_known(w->command) ? NULL : template_new(&single, w, &why);
	unsigned n = t ? template_source(t)->together : 1;

	template_free(t);
	free(why);
	return n;
}

/* Lets the server warm up, and counts one part of the case, in whole
 * transactions. Returns as run_requests. */
static int
count_part(const struct engine_job *j, size_t part,
    const struct engine_work *work, struct dumps *dumps,
    struct engine_result *result)
{
	struct engine_work now = *work;
	struct engine_meter meter = {
	    .connected = begin_window, .end = end_window, .arg = dumps};
	long long n = find_transaction(work), most;
	int rc;

	now.requests = (PROBE + n - 1) / n * n;
	now.seed++;
	rc = run_requests(j, part, &now, NULL, result);
	if (rc != 0)
		return rc;
	make_dump(dumps);
	most = dumps->rc < 0 ? -1
			     : choose_window(dumps->server, part, now.requests);
	if (most < 0)
		return -1;
	if (most == WINDOW && work->requests / WARMUP > PROBE) {
		now.requests =
		    (work->requests / WARMUP - PROBE + n - 1) / n * n;
		now.seed++;
		rc = run_requests(j, part, &now, NULL, result);
		if (rc != 0)
			return rc;
	}
	now = *work;
	if (now.requests > most)
		now.requests = most;
	now.requests = (now.requests + n - 1) / n * n;
	rc = run_requests(j, part, &now, &meter, result);
	return rc == 0 ? dumps->rc : rc;
}

int
counting_run(const struct engine_job *j, const struct engine_work *works,
    const struct json *server, struct engine_result *results)
{
	struct engine_work fill;
	struct dumps dumps;
	int rc = 0;

	for (size_t i = 0; i < j->nwork && rc == 0; i++) {
		fill = works[i];
		fill.requests += fill.requests / WARMUP + PROBE;
		rc = engine_seed(
		    &j->target->e, &fill, j->stop, j->progress, j->arg);
	}
	if (rc == 0)
		rc = command_server(server, 'i');
	for (size_t i = 0; i < j->nwork && rc == 0; i++) {
		dumps = (struct dumps){.server = server};
		rc = count_part(j, i, &works[i], &dumps, &results[i]);
		if (rc <= 0)
			continue;
		while (dumps.n < DUMPS) /* the next part begins with its own */
			make_dump(&dumps);
		rc = dumps.rc;
	}
	return rc;
}

/* --- what was counted --------------------------------------------------- */

/* What a function of the allocator does with memory. */
enum { NOT_OF_ALLOCATOR, TAKES, RESIZES, FREES, ALLOCATOR_KINDS };

/* Returns what a name does, see vkb-counting(7). */
static int
find_allocator(const char *name)
{
	static const struct {
		const char *name;
		int kind;
	} v[] = {{"malloc", TAKES}, {"calloc", TAKES}, {"aligned_alloc", TAKES},
	    {"posix_memalign", TAKES}, {"memalign", TAKES}, {"mallocx", TAKES},
	    {"realloc", RESIZES}, {"reallocarray", RESIZES},
	    {"rallocx", RESIZES}, {"free", FREES}, {"cfree", FREES},
	    {"free_sized", FREES}, {"free_aligned_sized", FREES},
	    {"dallocx", FREES}, {"sdallocx", FREES}};

	if (str_starts(name, "je_") || str_starts(name, "tc_") ||
	    str_starts(name, "mi_"))
		name += 3;
	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		if (strcmp(name, v[i].name) == 0)
			return v[i].kind;
	return NOT_OF_ALLOCATOR;
}

/* Counts calls of the allocator by others: its functions call each other. */
static void
count_allocations(const struct callgrind *g, uint64_t n[ALLOCATOR_KINDS])
{
	for (size_t i = 0; i < g->ncalls; i++)
		if (!find_allocator(g->functions[g->calls[i].from].name))
			n[find_allocator(g->functions[g->calls[i].to].name)] +=
			    g->calls[i].count;
}

/* A stripped server whose allocator is its own has no names to count by. */
static bool
has_names(const struct callgrind *g)
{
	size_t named = 0;

	for (size_t i = 0; i < g->nfunctions; i++)
		named += !str_starts(g->functions[i].name, "0x");
	return 2 * named > g->nfunctions;
}

static void
add_allocations(
    struct json *metrics, const struct callgrind *g, double requests)
{
	uint64_t n[ALLOCATOR_KINDS] = {0};
	double unfreed, steps;

	count_allocations(g, n);
	if (!n[TAKES] && !n[RESIZES] && !has_names(g))
		return;
	json_set_num(metrics, "allocations_per_req",
	    (double)(n[TAKES] + n[RESIZES]) / requests);
	/* A connection and its first request take a little that is not given
	 * back meanwhile, so the number comes in steps of ten calls, and of
	 * hundredths at least. */
	steps = fmin(100, requests / 10);
	unfreed = ((double)n[TAKES] - (double)n[FREES]) / requests;
	json_set_num(metrics, "unfreed_allocations_per_req",
	    round(unfreed * steps) / steps + 0.0);
}

static int
find_event(const struct callgrind *g, const char *name)
{
	for (size_t i = 0; i < g->nevents; i++)
		if (strcmp(g->events[i], name) == 0)
			return (int)i;
	return -1;
}

/* System calls of a function, but for the library, which makes some to wait. */
static uint64_t
count_system_calls(const struct callgrind_function *f, int event)
{
	return event >= 0 && !str_ends(f->object, "/" STILL) ? f->self[event]
							     : 0;
}

/* Adds the sum of these events for each request, if they were simulated. */
static void
add_simulated(struct json *metrics, const char *name, const struct callgrind *g,
    double requests, const char *const events[3])
{
	uint64_t n = 0;
	int event;

	for (size_t i = 0; i < 3 && events[i]; i++) {
		event = find_event(g, events[i]);
		if (event < 0)
			return;
		n += g->total[event];
	}
	json_set_num(metrics, name, (double)n / requests);
}

static int
compare_functions(const void *a, const void *b)
{
	const struct callgrind_function *const *x = a, *const *y = b;

	if ((*x)->self[0] != (*y)->self[0])
		return (*x)->self[0] < (*y)->self[0] ? 1 : -1;
	return strcmp((*x)->name, (*y)->name);
}

/* Each has instructions of its own, with what it calls, and calls, for each
 * request. place[]: where each function of g went. */
static struct json *
list_functions(const struct callgrind *g, double requests, size_t *place)
{
	const struct callgrind_function **v =
	    mem_array(g->nfunctions, sizeof *v);
	struct json *all = json_array(), *j;
	int syscalls = find_event(g, "sysCount");
	uint64_t n;

	for (size_t i = 0; i < g->nfunctions; i++)
		v[i] = &g->functions[i];
	qsort(v, g->nfunctions, sizeof *v, compare_functions);
	for (size_t i = 0; i < g->nfunctions; i++) {
		place[v[i] - g->functions] = i;
		j = json_object();
		json_set_str(j, "name", v[i]->name);
		json_set_str(j, "object", v[i]->object);
		json_set_num(j, "self", (double)v[i]->self[0] / requests);
		json_set_num(
		    j, "inclusive", (double)v[i]->inclusive / requests);
		json_set_num(j, "calls", (double)v[i]->calls / requests);
		n = count_system_calls(v[i], syscalls);
		if (n)
			json_set_num(j, "syscalls", (double)n / requests);
		json_push(all, j);
	}
	free(v);
	return all;
}

static struct json *
list_edges(const struct callgrind *g, double requests, const size_t *place)
{
	struct json *all = json_array(), *j;
	const struct callgrind_call *c;

	for (size_t i = 0; i < g->ncalls; i++) {
		c = &g->calls[i];
		j = json_object();
		json_set_num(j, "from", (double)place[c->from]);
		json_set_num(j, "to", (double)place[c->to]);
		json_set_num(j, "calls", (double)c->count / requests);
		json_set_num(j, "inclusive", (double)c->cost[0] / requests);
		json_push(all, j);
	}
	return all;
}

static int
check_events(const struct callgrind *g, const char *path)
{
	return g->nevents && strcmp(g->events[0], "Ir") == 0
	    ? 0
	    : err_fail(
		  "%s: instructions ('Ir') are not what it has first", path);
}

static struct json *
make_profile(const char *name, const struct json *server,
    const struct engine_result *result, const struct json *run,
    const struct callgrind *g)
{
	struct json *rec = record_new("profile"), *j = json_object();
	const struct json *which = json_get(run, "run");
	size_t *place = mem_array(g->nfunctions, sizeof *place);
	double requests = (double)result->requests;

	json_set_str(rec, "case", name);
	json_set(rec, "subject", json_dup(json_get(run, "subject")));
	json_set(rec, "config", json_dup(json_get(run, "config")));
	json_set(rec, "run", json_dup(which));
	json_set_str(j, "exe", json_str(json_path(server, "binary.path")));
	json_set(rec, "target", j);
	json_set(rec, "probed", json_object());
	json_set_str(rec, "mode", "count");
	json_set_str(rec, "started", json_get_str(which, "started"));
	json_set_num(rec, "duration_s", result->elapsed_s);
	json_set_num(rec, "requests", requests);
	json_set(rec, "functions", list_functions(g, requests, place));
	json_set(rec, "edges", list_edges(g, requests, place));
	free(place);
	json_set_str(rec, "status", "ok");
	return rec;
}

static struct json *
make_metrics(const struct callgrind *g, double requests)
{
	struct json *metrics = json_object();
	int event = find_event(g, "sysCount");
	uint64_t syscalls = 0;

	for (size_t i = 0; i < g->nfunctions; i++)
		syscalls += count_system_calls(&g->functions[i], event);
	json_set_num(
	    metrics, "instructions_per_req", (double)g->total[0] / requests);
	add_allocations(metrics, g, requests);
	if (event >= 0)
		json_set_num(
		    metrics, "syscalls_per_req", (double)syscalls / requests);
	add_simulated(metrics, "l1_misses_per_req", g, requests,
	    (const char *const[3]){"I1mr", "D1mr", "D1mw"});
	add_simulated(metrics, "ll_misses_per_req", g, requests,
	    (const char *const[3]){"ILmr", "DLmr", "DLmw"});
	add_simulated(metrics, "branch_misses_per_req", g, requests,
	    (const char *const[3]){"Bcm", "Bim"});
	return metrics;
}

int
counting_report(const struct engine_job *j, size_t part, const char *name,
    const struct engine_result *result, struct json *run, struct json *profiles)
{
	const struct json *server = j->counted;
	char *path = make_dump_path(server, part, DUMPS);
	struct callgrind g;
	int rc = callgrind_open(&g, path);

	if (rc == 0)
		rc = check_events(&g, path);
	if (rc == 0) {
		json_set(
		    run, "metrics", make_metrics(&g, (double)result->requests));
		json_push(
		    profiles, make_profile(name, server, result, run, &g));
	}
	callgrind_free(&g);
	free(path);
	return rc;
}
