#include "words.h"
#include "clock.h"
#include "hist.h"
#include "mem.h"
#include "pools.h"
#include "run.h"
#include "seed.h"
#include "slotmap.h"
#include "str.h"
#include "streams.h"
#include "tls.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEFOREHAND ((size_t)256 << 20) /* bytes, of a command of a template */

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
	pthread_mutex_lock(&r->gate->lock);
	first = !r->failed;
	r->failed = true;
	atomic_store(&r->halt, 2);
	pthread_cond_broadcast(&r->gate->changed);
	pthread_mutex_unlock(&r->gate->lock);
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

	if (!w->text && !command_known(w->command)) {
		near = str_nearest(w->command, command_names());
		return err_fail("the engine has no test '%s'%s%s%s", w->command,
		    near ? "; is '" : "", near ? near : "",
		    near ? "' meant?" : "");
	}
	if (t->nnodes == 0 || w->clients < 1 || w->threads < 1 ||
	    w->pipeline < 1 || w->data_size < 0 || w->warmup_s < 0 ||
	    w->rate < 0 || (w->requests <= 0 && w->duration_s <= 0))
		err_die("a run without nodes, clients, threads, or an end");
	if ((uint64_t)w->keyspacelen > KEYS_NUMBERS)
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
	if (r->work->resp3) {
		str_add(&s, "*2\r\n");
		add_bulk(&s, "HELLO");
		add_bulk(&s, "3");
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

/* Shares the clients, and in open loop the arrivals, among threads. */
static void
make_workers(struct run *r)
{
	const struct engine_work *work = r->work;
	struct worker *w;
	size_t i;

	r->nworkers = (size_t)(work->threads < work->clients ? work->threads
							     : work->clients);
	r->workers = mem_array(r->nworkers, sizeof *r->workers);
	for (i = 0; i < r->nworkers; i++) {
		w = &r->workers[i];
		w->run = r;
		w->index = (int)i;
		w->ep = -1;
		w->nclients =
		    ((size_t)work->clients + r->nworkers - 1 - i) / r->nworkers;
		w->free_clients = w->nclients;
		w->share = r->requests == RUN_ENDLESS
		    ? RUN_ENDLESS
		    : (r->requests + r->nworkers - 1 - i) / r->nworkers;
	}
}

int
run_init(struct run *r, struct gate *gate, const struct engine_target *t,
    const struct engine_work *w, const struct run_options *o)
{
	struct slotmap *m;
	size_t i;

	r->gate = gate;
	r->target = t;
	r->work = w;
	r->command = o->command;
	r->template = o->template;
	memcpy(r->taken, o->taken, sizeof r->taken);
	r->refill = o->refill;
	r->only_node = o->only_node;
	r->strict = o->strict;
	r->space = o->space;
	r->sequential = w->sequential && !o->template;
	r->pipeline = (uint32_t)w->pipeline;
	r->timeout_ns = (int64_t)((w->timeout_s > 0 ? w->timeout_s : 60) * 1e9);
	r->requests = w->requests > 0 ? (uint64_t)w->requests : RUN_ENDLESS;
	r->by_key = t->cluster && o->only_node == SIZE_MAX;
	for (i = 0; i < r->command->nnumbers; i++)
		r->sequence_step += !r->command->numbers[i].same;
	if (t->cluster && r->command->keyed) /* the others share its slot */
		r->sequence_step = 1;
	r->latency = HIST_LATENCY();
	if (w->rate > 0)
		r->service = HIST_LATENCY();
	setup_text(r);
	make_workers(r);
	if (t->tls) {
		r->tls = tls_context_new(t->cacert, t->cert, t->key);
		if (!r->tls)
			return -1;
	}
	if (t->cluster) {
		r->tags = mem_array(KEYS_SLOTS, sizeof *r->tags);
		keys_tags(r->tags);
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
		c = w->conns[i];
		if (c->fd >= 0)
			conn_close(w, c);
		free(c->rest);
		free(c->due);
		free(c->written);
		free(c);
	}
	detour_free(w);
	pools_free(w);
	if (w->ep >= 0)
		close(w->ep);
	hist_free(w->latency);
	hist_free(w->service);
	free(w->conns);
	free(w->batch);
	free(w->in);
	free(w->refill);
	free(w->refill_keys);
}

void
run_fini(struct run *r)
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

int
run_start(struct run *r)
{
	pthread_attr_t a;
	struct worker *w;
	size_t i;
	int e = 0;

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

/* A stream, and what was made for it. */
struct made {
	struct command *command, *refill;
	struct template *template;
	bool shared; /* the template is that of another */
};

/* Parallel clients send the same commands of the same rows; SIZE_MAX: none. */
static size_t
alike(const struct engine_work *works, size_t i)
{
	const struct engine_work *w = &works[i], *v;

	for (size_t j = 0; j < i && w->text; j++) {
		v = &works[j];
		if (v->text && strcmp(v->text, w->text) == 0 &&
		    v->rows == w->rows && v->data_size == w->data_size)
			return j;
	}
	return SIZE_MAX;
}

static int
make(struct made *m, const struct engine_target *t, const struct engine_work *w)
{
	char *why, *text;

	if (w->text) {
		text = words_expand_prefix(w->text, t->prefix);
		m->template =
		    template_new(text, w->data_size, t->cluster, &why);
		free(text);
		if (!m->template) {
			err_say("'%s': %s", w->text, why);
			free(why);
			return -1;
		}
		if (*template_fields(m->template) && !w->rows)
			return err_fail(
			    "'%s' names a field, and there is no dataset",
			    w->text);
		if (*template_fields(m->template))
			template_bind(m->template, w->rows, BEFOREHAND);
		return 0;
	}
	m->command =
	    command_new(w->command, w->data_size, t->cluster, t->prefix);
	if (seed_refills(t, w))
		m->refill = command_seed(w->command, w->data_size, t->cluster,
		    t->prefix, seed_many(w));
	return 0;
}

static void
drop(struct made *m)
{
	command_free(m->command);
	command_free(m->refill);
	if (!m->shared)
		template_free(m->template);
}

/* Each row of a dataset, and each number in sequence, is for one stream. */
static void
share(struct run_options *o, const struct engine_work *works, size_t n,
    _Atomic uint64_t *counters)
{
	size_t i, first;

	for (i = 0; i < n; i++) {
		for (first = 0; works[first].rows != works[i].rows; first++)
			continue;
		o[i].taken[TEMPLATE_SEQ] = &counters[n];
		o[i].taken[TEMPLATE_ROWS] = &counters[first];
	}
}

int
engine_run(const struct engine_target *t, const struct engine_work *works,
    size_t n, const volatile int *stop, engine_progress_fn *progress, void *arg,
    const struct engine_meter *meter, struct engine_result *results)
{
	struct run_options *o = mem_array(n, sizeof *o);
	struct made *m = mem_array(n, sizeof *m);
	_Atomic uint64_t *counters = mem_array(n + 1, sizeof *counters);
	size_t i, first;
	int rc = -1;

	memset(results, 0, n * sizeof *results);
	for (i = 0; i < n; i++) {
		first = alike(works, i);
		if (run_check(t, &works[i]) < 0)
			goto out;
		if (first != SIZE_MAX) {
			m[i] = m[first];
			m[i].shared = true;
		} else if (make(&m[i], t, &works[i]) < 0)
			goto out;
		o[i] = (struct run_options){.only_node = SIZE_MAX,
		    .space = run_space(&works[i]),
		    .command = m[i].template ? template_command(m[i].template)
					     : m[i].command,
		    .template = m[i].template,
		    .refill = m[i].refill};
	}
	share(o, works, n, counters);
	rc = streams_run(t, works, o, n, stop, progress, arg, meter, results);
out:
	for (i = 0; i < n; i++)
		drop(&m[i]);
	free(counters);
	free(m);
	free(o);
	return rc;
}
