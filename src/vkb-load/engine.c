#include "clock.h"
#include "hist.h"
#include "mem.h"
#include "run.h"
#include "seed.h"
#include "slotmap.h"
#include "str.h"
#include "tls.h"
#include "watch.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 250000000    /* between two looks at the run */
#define REFRESH_NS 100000000 /* between two looks at the slots */

const char *const *
engine_commands(void)
{
	return command_names();
}

bool
engine_reads(const char *command)
{
	return command_reads(command);
}

void
run_fail(struct run *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	bool first;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&r->lock);
	first = !r->failed;
	r->failed = true;
	atomic_store(&r->halt, 2);
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (first)
		err_say("%s", text);
}

uint64_t
run_space(const struct engine_work *w)
{
	return w->keyspacelen > 0 ? (uint64_t)w->keyspacelen : 1;
}

int
run_check(const struct engine_target *t, const struct engine_work *w)
{
	const char *near;

	if (!command_known(w->command)) {
		near = str_nearest(w->command, command_names());
		return err_fail("the engine has no test '%s'%s%s%s", w->command,
		    near ? "; is '" : "", near ? near : "",
		    near ? "' meant?" : "");
	}
	if (t->nnodes == 0 || w->clients < 1 || w->threads < 1 ||
	    w->pipeline < 1 || w->data_size < 0 || w->warmup_s < 0 ||
	    w->rate < 0 || (w->requests <= 0 && w->duration_s <= 0))
		err_die("a run without nodes, clients, threads, or an end");
	if ((uint64_t)w->keyspacelen > COMMAND_NUMBERS)
		return err_fail(
		    "keyspacelen %lld has more than 12 digits", w->keyspacelen);
	return 0;
}

static void
add_bulk(struct str *s, const char *word)
{
	str_printf(s, "$%zu\r\n%s\r\n", strlen(word), word);
}

static void
setup_text(struct run *r)
{
	const struct engine_target *t = r->target;
	struct str s = {0};
	char db[16];

	if (t->password) {
		str_printf(&s, "*%d\r\n", t->user ? 3 : 2);
		add_bulk(&s, "AUTH");
		if (t->user)
			add_bulk(&s, t->user);
		add_bulk(&s, t->password);
		r->setup_replies++;
	}
	if (t->db > 0) {
		snprintf(db, sizeof db, "%d", t->db);
		str_add(&s, "*2\r\n");
		add_bulk(&s, "SELECT");
		add_bulk(&s, db);
		r->setup_replies++;
	}
	r->nsetup = s.len;
	r->setup = str_take(&s);
}

/* Shares the connections, and in open loop the arrivals, among threads. */
static void
make_workers(struct run *r)
{
	const struct engine_work *work = r->work;
	struct worker *w;
	size_t i, n;

	r->nworkers = (size_t)(work->threads < work->clients ? work->threads
							     : work->clients);
	r->workers = mem_array(r->nworkers, sizeof *r->workers);
	for (i = 0; i < r->nworkers; i++) {
		w = &r->workers[i];
		w->run = r;
		w->index = (int)i;
		w->ep = -1;
		w->nconns =
		    ((size_t)work->clients + r->nworkers - 1 - i) / r->nworkers;
		w->conns = mem_array(w->nconns, sizeof *w->conns);
		w->idle = mem_array(w->nconns, sizeof(void *));
		for (n = 0; n < w->nconns; n++) {
			w->conns[n].fd = -1;
			w->conns[n].index = n * r->nworkers + i;
		}
		w->share = r->requests == RUN_ENDLESS
		    ? RUN_ENDLESS
		    : (r->requests + r->nworkers - 1 - i) / r->nworkers;
	}
}

static int
init(struct run *r, const struct engine_target *t, const struct engine_work *w,
    const struct run_options *o)
{
	pthread_condattr_t a;
	struct slotmap *m;
	size_t i;

	r->target = t;
	r->work = w;
	r->command = o->command;
	r->refill = o->refill;
	r->only_node = o->only_node;
	r->strict = o->strict;
	r->space = o->space;
	r->sequential = w->sequential;
	r->pipeline = (uint32_t)w->pipeline;
	r->timeout_ns = (int64_t)((w->timeout_s > 0 ? w->timeout_s : 60) * 1e9);
	r->requests = w->requests > 0 ? (uint64_t)w->requests : RUN_ENDLESS;
	for (i = 0; i < r->command->nnumbers; i++)
		r->sequence_step += !r->command->numbers[i].same;
	r->latency = HIST_LATENCY();
	if (w->rate > 0)
		r->service = HIST_LATENCY();
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &a);
	pthread_condattr_destroy(&a);
	setup_text(r);
	make_workers(r);
	if (t->tls) {
		r->tls = tls_context_new(t->cacert, t->cert, t->key);
		if (!r->tls)
			return -1;
	}
	if (t->cluster) {
		r->tags = mem_array(COMMAND_SLOTS, sizeof *r->tags);
		command_tags(r->tags);
	}
	m = slotmap_new(t, r->tls, r->space, (const char(*)[3])r->tags);
	atomic_store(&r->map, m);
	if (m && r->only_node != SIZE_MAX && r->only_node >= m->n)
		return err_fail("the cluster changed while it was seeded");
	return m ? 0 : -1;
}

static void
free_worker(struct worker *w)
{
	struct conn *c;
	size_t i;

	for (i = 0; i < w->nconns; i++) {
		c = &w->conns[i];
		if (c->fd >= 0)
			conn_close(w, c);
		free(c->rest);
		free(c->due);
		free(c->written);
	}
	detour_free(w);
	if (w->ep >= 0)
		close(w->ep);
	hist_free(w->latency);
	hist_free(w->service);
	free(w->conns);
	free(w->idle);
	free(w->batch);
	free(w->in);
	free(w->refill);
	free(w->refill_keys);
	free(w->places);
}

static void
fini(struct run *r)
{
	size_t i;

	for (i = 0; i < r->nworkers; i++)
		free_worker(&r->workers[i]);
	for (i = 0; i < r->nintervals; i++)
		hist_free(r->intervals[i].hist);
	free(r->intervals);
	free(r->workers);
	free(r->setup);
	slotmap_free(atomic_load(&r->map));
	tls_context_free(r->tls);
	free(r->tags);
	hist_free(r->latency);
	hist_free(r->service);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
}

/* One CPU for each thread where there are enough, else all for all. */
static void
affinity(pthread_attr_t *a, const cpu_set_t *cpus, size_t i, size_t threads)
{
	cpu_set_t one;
	size_t cpu, left = i;

	if (!cpus)
		return;
	CPU_ZERO(&one);
	if (threads > (size_t)CPU_COUNT(cpus)) {
		pthread_attr_setaffinity_np(a, sizeof *cpus, cpus);
		return;
	}
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus) && left-- == 0)
			break;
	CPU_SET(cpu, &one);
	pthread_attr_setaffinity_np(a, sizeof one, &one);
}

/* As many descriptors as the connections need, where that is allowed. */
static void
room_for(int clients)
{
	struct rlimit l;
	rlim_t need = (rlim_t)clients + 256;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= need)
		return;
	l.rlim_cur = l.rlim_max < need ? l.rlim_max : need;
	/* Where it fails, the connection that has no room says so. */
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

static int
start_threads(struct run *r)
{
	pthread_attr_t a;
	struct worker *w;
	size_t i;
	int e = 0;

	room_for(r->work->clients);
	for (i = 0; i < r->nworkers && !e; i++) {
		w = &r->workers[i];
		pthread_attr_init(&a);
		affinity(&a, r->work->cpus, i, r->nworkers);
		e = pthread_create(&w->thread, &a, worker_main, w);
		pthread_attr_destroy(&a);
		w->started = e == 0;
	}
	if (e)
		run_fail(r, "cannot start a thread%s: %s",
		    r->work->cpus ? " on the client's CPUs" : "", strerror(e));
	return e ? -1 : 0;
}

void
run_close_intervals(struct run *r, bool all)
{
	struct interval *in;

	for (; r->closed < r->nintervals; r->closed++) {
		in = &r->intervals[r->closed];
		if (!all && (size_t)in->handed < r->nworkers)
			return;
		in->p50_ms = in->p99_ms = in->max_ms = NAN;
		if (!in->hist)
			continue;
		in->p50_ms = (double)hist_quantile(in->hist, .5) / 1e6;
		in->p99_ms = (double)hist_quantile(in->hist, .99) / 1e6;
		in->max_ms = (double)hist_max(in->hist) / 1e6;
		hist_free(in->hist);
		in->hist = NULL;
	}
}

/* Waits with the lock held for 'until' or a change. */
static void
wait_until(struct run *r, int64_t until)
{
	struct timespec t = {
	    .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};

	pthread_cond_timedwait(&r->changed, &r->lock, &t);
}

static void
tell(struct run *r, engine_progress_fn *progress, void *arg, int64_t now)
{
	struct engine_progress p = {.rps = NAN, .p99_ms = NAN};
	const struct interval *last;

	pthread_mutex_lock(&r->lock);
	run_close_intervals(r, false);
	if (r->closed) {
		last = &r->intervals[r->closed - 1];
		p.rps = (double)last->requests;
		p.p99_ms = last->p99_ms;
	}
	p.warmup = now < r->t0;
	p.done = r->t1 != INT64_MAX
	    ? (double)(now - r->start) / (double)(r->t1 - r->start)
	    : (double)r->answered / (double)r->requests;
	pthread_mutex_unlock(&r->lock);
	p.done = p.done > 1 ? 1 : p.done;
	if (progress)
		progress(arg, &p);
}

void
run_stale(struct run *r)
{
	if (atomic_load_explicit(&r->stale, memory_order_relaxed) ||
	    atomic_exchange(&r->stale, true))
		return;
	pthread_mutex_lock(&r->lock);
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/*
 * After a MOVED: what the cluster says now. Threads see it at their tick, and
 * until then go on with the old map, so it is not asked more often.
 */
static void
refresh(struct run *r, int64_t now)
{
	if (now < r->refresh_ns || !atomic_exchange(&r->stale, false))
		return;
	r->refresh_ns = now + REFRESH_NS;
	atomic_store(&r->map,
	    slotmap_again(atomic_load(&r->map), r->target, r->tls, r->space,
		(const char(*)[3])r->tags));
}

/* All connected: the clock starts. False when the run has failed before. */
static bool
go(struct run *r, const volatile int *stop)
{
	bool ok;

	pthread_mutex_lock(&r->lock);
	while (r->nready < r->nworkers && !run_halted(r)) {
		if (stop && *stop)
			atomic_store(&r->halt, 1);
		wait_until(r, clock_ns() + LOOK_NS);
	}
	ok = !run_halted(r);
	r->base = r->start = clock_ns();
	r->t0 = r->start + (int64_t)(r->work->warmup_s * 1e9);
	r->t1 = r->requests == RUN_ENDLESS
	    ? r->t0 + (int64_t)(r->work->duration_s * 1e9)
	    : INT64_MAX;
	pthread_mutex_unlock(&r->lock);
	return ok;
}

static void
release(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	r->go = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static void
supervise(struct run *r, struct watch *watch, const volatile int *stop,
    engine_progress_fn *progress, void *arg)
{
	int64_t now, look = clock_ns() + LOOK_NS, next;
	bool begun = r->t0 == r->start, ended = false, done = false;

	release(r);
	while (!done) {
		next = look;
		if (!begun && r->t0 < next)
			next = r->t0;
		if (begun && !ended && r->t1 < next)
			next = r->t1;
		pthread_mutex_lock(&r->lock);
		if (r->ndone < r->nworkers)
			wait_until(r, next);
		done = r->ndone == r->nworkers;
		pthread_mutex_unlock(&r->lock);
		now = clock_ns();
		if (!begun && now >= r->t0) {
			watch_begin(watch);
			begun = true;
		}
		if (begun && !ended && (now >= r->t1 || done)) {
			watch_end(watch);
			ended = true;
		}
		if (stop && *stop)
			atomic_store(&r->halt, 1);
		refresh(r, now);
		if (now < look)
			continue;
		look = now + LOOK_NS;
		tell(r, progress, arg, now);
	}
}

int
run_all(const struct engine_target *t, const struct engine_work *w,
    const struct run_options *o, const volatile int *stop,
    engine_progress_fn *progress, void *arg, struct engine_result *out)
{
	struct run r = {0};
	struct watch *watch = NULL;
	pid_t *tids = NULL;
	size_t i;
	int rc = -1;

	if (init(&r, t, w, o) < 0)
		goto out;
	if (start_threads(&r) < 0 || !go(&r, stop)) {
		release(&r);
		goto join;
	}
	tids = mem_array(r.nworkers, sizeof *tids);
	for (i = 0; i < r.nworkers; i++)
		tids[i] = r.workers[i].tid;
	watch = watch_new(t, tids, r.nworkers);
	/* Opening and reading the counters took its time. */
	if (w->warmup_s <= 0)
		watch_begin(watch);
	go(&r, stop);
	supervise(&r, watch, stop, progress, arg);
	rc = run_halted(&r) ? -1 : 0;
join:
	pthread_mutex_lock(&r.lock);
	r.released = true;
	pthread_cond_broadcast(&r.changed);
	pthread_mutex_unlock(&r.lock);
	for (i = 0; i < r.nworkers; i++)
		if (r.workers[i].started)
			pthread_join(r.workers[i].thread, NULL);
	if (rc == 0 && out) {
		run_results(&r, out);
		watch_report(watch, out);
	}
out:
	watch_free(watch);
	free(tids);
	fini(&r);
	return rc;
}

int
engine_run(const struct engine_target *t, const struct engine_work *w,
    const volatile int *stop, engine_progress_fn *progress, void *arg,
    struct engine_result *out)
{
	struct run_options o = {.only_node = SIZE_MAX};
	int rc;

	memset(out, 0, sizeof *out);
	if (run_check(t, w) < 0)
		return -1;
	o.space = run_space(w);
	o.command = command_new(w->command, w->data_size, t->cluster);
	if (seed_refills(t, w))
		o.refill = command_seed(
		    w->command, w->data_size, t->cluster, seed_many(w));
	rc = run_all(t, w, &o, stop, progress, arg, out);
	command_free(o.command);
	command_free(o.refill);
	return rc;
}
