#include "watch.h"
#include "json.h"
#include "mem.h"
#include "sampler.h"
#include "task.h"
#include "vkb-load/engine/engine.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CYCLES, INSTRUCTIONS, COUNTERS };

struct counters {
	int *fds; /* COUNTERS of each thread */
	size_t n;
	double v[2][COUNTERS]; /* at the begin and the end */
};

struct watch {
	pid_t *tids, *pids; /* of the servers, those on this host */
	size_t ntids, npids;
	size_t nservers; /* npids, or 0: with one elsewhere no sum is whole */
	bool is_child;   /* the client is a program ... */
	_Atomic pid_t child; /* ... that has not started where this is 0 */
	int threads;         /* of the child */
	struct counters client, server;
	/* At the begin and the end, of threads of the client ... */
	struct task_time *clients[2];
	struct task_time *mains[2]; /* ... and main threads of the servers */
	double local_ns[2];         /* of all pids */
	struct sampler *sampler;
};

static void
close_counters(struct counters *c)
{
	for (size_t i = 0; i < c->n * COUNTERS; i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	free(c->fds);
}

static void
add_thread(struct counters *c, pid_t tid)
{
	static const unsigned long long what[] = {
	    PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS};
	struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
	    .size = sizeof a,
	    .inherit = 1,
	    .exclude_hv = 1,
	    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
		PERF_FORMAT_TOTAL_TIME_RUNNING};

	c->fds = mem_resize(c->fds, (c->n + 1) * COUNTERS, sizeof *c->fds);
	for (size_t i = 0; i < COUNTERS; i++) {
		a.config = what[i];
		c->fds[c->n * COUNTERS + i] = (int)syscall(SYS_perf_event_open,
		    &a, tid, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
	}
	c->n++;
}

/* Returns NAN unless each thread was counted: a partial sum would be wrong. */
static double
sum_counter(const struct counters *c, size_t which)
{
	uint64_t v[3];
	double sum = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (read(c->fds[i * COUNTERS + which], v, sizeof v) != sizeof v)
			return NAN;
		if (v[2])
			sum += (double)v[0] * (double)v[1] / (double)v[2];
		else if (v[1])
			return NAN; /* enabled, but never on the CPU's unit */
	}
	return c->n ? sum : NAN;
}

static void
read_counters(struct watch *w, int at)
{
	for (size_t i = 0; i < COUNTERS; i++) {
		w->client.v[at][i] = sum_counter(&w->client, i);
		w->server.v[at][i] = sum_counter(&w->server, i);
	}
}

static void
read_threads(struct watch *w, int at)
{
	size_t i;

	w->clients[at] = mem_array(w->ntids + 1, sizeof **w->clients);
	w->mains[at] = mem_array(w->nservers + 1, sizeof **w->mains);
	for (i = 0; i < w->ntids; i++)
		w->clients[at][i] = !w->is_child
		    ? task_thread_time(getpid(), w->tids[i])
		    : w->child ? task_process_time(w->child)
			       : (struct task_time){0};
	for (i = 0; i < w->nservers; i++)
		w->mains[at][i] = task_thread_time(w->pids[i], w->pids[i]);
	for (i = 0; i < w->npids; i++)
		w->local_ns[at] += task_process_ns(w->pids[i]);
}

/* Adds the processes of the servers that are on this host. */
static void
add_servers(struct watch *w, const struct engine_node *nodes, size_t n)
{
	w->pids = mem_resize(w->pids, w->npids + n + 1, sizeof *w->pids);
	for (size_t i = 0; i < n; i++)
		if (nodes[i].pid > 0)
			w->pids[w->npids++] = nodes[i].pid;
}

struct watch *
watch_new(const struct engine_target *t)
{
	struct watch *w = mem_new(sizeof *w);
	size_t n;
	pid_t *tids;

	w->threads = 1;
	add_servers(w, t->nodes, t->nnodes);
	add_servers(w, t->replicas, t->nreplicas);
	if (w->npids == t->nnodes + t->nreplicas)
		w->nservers = w->npids;
	for (size_t i = 0; i < w->nservers; i++) {
		tids = task_list_threads(w->pids[i], &n);
		for (size_t k = 0; k < n; k++)
			add_thread(&w->server, tids[k]);
		free(tids);
	}
	return w;
}

/* Watches a client with n threads, or a child with unknown threads. */
static void
watch_client(void *watch, const pid_t *tids, size_t n)
{
	struct watch *w = watch;

	w->tids = mem_array(n + 1, sizeof *w->tids);
	w->ntids = n;
	for (size_t i = 0; i < n && !w->is_child; i++) {
		w->tids[i] = tids[i];
		add_thread(&w->client, tids[i]);
	}
	w->sampler = sampler_new(w->pids, w->nservers, w->tids,
	    w->is_child ? 0 : n, w->is_child ? &w->child : NULL);
}

struct engine_meter
watch_meter(struct watch *w)
{
	return (struct engine_meter){.connected = watch_client,
	    .begin = watch_begin,
	    .end = watch_end,
	    .arg = w};
}

struct watch *
watch_child(const struct engine_target *t, int threads)
{
	struct watch *w = watch_new(t);

	w->is_child = true;
	w->threads = threads;
	watch_client(w, NULL, 1);
	return w;
}

void
watch_set_child(struct watch *w, pid_t pid)
{
	w->child = pid;
}

void
watch_free(struct watch *w)
{
	if (!w)
		return;
	close_counters(&w->client);
	close_counters(&w->server);
	sampler_free(w->sampler);
	for (int i = 0; i < 2; i++) {
		free(w->clients[i]);
		free(w->mains[i]);
	}
	free(w->tids);
	free(w->pids);
	free(w);
}

void
watch_begin(void *watch)
{
	struct watch *w = watch;

	read_counters(w, 0);
	read_threads(w, 0);
	sampler_begin(w->sampler);
}

void
watch_end(void *watch)
{
	struct watch *w = watch;

	read_threads(w, 1);
	sampler_end(w->sampler);
	read_counters(w, 1);
}

/* fmax and fmin would take the other number for one that is unknown. */
static double
max_known(double a, double b)
{
	return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}

static double
limit_percent(double part, double whole)
{
	double v = 100 * part / whole;

	return isnan(v) ? NAN : fmin(v, 100);
}

/* The time of some threads between two samples; NAN: unknown. */
struct spent {
	double sum_ns;
	double most_ns;   /* of the busiest thread */
	double wanted_ns; /* most that one ran or waited for a CPU */
};

static struct spent
compute_spent(const struct task_time *a, const struct task_time *b, size_t n)
{
	double none = n ? 0 : NAN, ran, waited;
	struct spent s = {none, none, none};

	for (size_t i = 0; i < n; i++) {
		ran = b[i].ran_ns - a[i].ran_ns;
		waited = b[i].waited_ns - a[i].waited_ns;
		s.sum_ns += ran;
		s.most_ns = max_known(s.most_ns, ran);
		s.wanted_ns = max_known(s.wanted_ns, ran + waited);
	}
	return s;
}

static double
compute_per_request(const struct counters *c, int which, double requests)
{
	double v = (c->v[1][which] - c->v[0][which]) / requests;

	/* A counter that does not change is not counting. */
	return v > 0 ? v : NAN;
}

enum watch_bound
watch_bound(struct watch_busy server, struct watch_busy client)
{
	bool client_wanted = client.wanted >= WATCH_BUSY_PERCENT;

	if (server.ran >= WATCH_BUSY_PERCENT)
		return WATCH_SERVER;
	if (client.ran >= WATCH_BUSY_PERCENT)
		return WATCH_CLIENT;
	if (server.wanted >= WATCH_BUSY_PERCENT &&
	    !(client_wanted && client.ran > server.ran))
		return WATCH_SERVER;
	if (client_wanted)
		return WATCH_CLIENT;
	return isnan(server.ran) || isnan(client.ran) ? WATCH_UNKNOWN
						      : WATCH_NEITHER;
}

const char *
watch_bound_name(enum watch_bound bound)
{
	static const char *const names[] = {[WATCH_UNKNOWN] = NULL,
	    [WATCH_NEITHER] = "neither",
	    [WATCH_SERVER] = "server",
	    [WATCH_CLIENT] = "client"};

	return names[bound];
}

double
watch_spent_ns(const struct watch *w)
{
	if (!w->clients[1])
		return 0;
	return compute_spent(w->clients[0], w->clients[1], w->ntids).sum_ns +
	    w->local_ns[1] - w->local_ns[0];
}

/* Drops the samples of a load in slices: a second has slices of all servers. */
static struct json *
make_slice_metrics(const struct watch *w)
{
	static const char key[] = "memory_peak_mb";
	struct json *all = sampler_metrics(sampler_data(w->sampler)),
		    *kept = json_object();

	json_set_num(kept, key, json_get_num(all, key, NAN));
	json_free(all);
	return kept;
}

void
watch_report(
    const struct watch *w, const struct watch_load *load, struct watch_cost *r)
{
	const struct sampler_reading *a, *b;
	const struct sampler_data *d;
	double n = load->requests ? (double)load->requests : NAN;
	double ns, server, threads_ns;
	struct spent client, mains;

	*r = (struct watch_cost){0};
	if (!w->clients[1])
		return;
	d = sampler_data(w->sampler);
	a = &d->readings[0];
	b = &d->readings[d->n - 1];
	ns = load->active_s > 0 ? load->active_s * 1e9
				: (double)(b->at_ns - a->at_ns);
	threads_ns = w->threads * ns;
	server = b->server_ns - a->server_ns;
	client = compute_spent(w->clients[0], w->clients[1], w->ntids);
	mains = compute_spent(w->mains[0], w->mains[1], w->nservers);
	r->client_cpu_us_per_req = client.sum_ns / 1e3 / n;
	r->client_busy_percent = limit_percent(client.most_ns, threads_ns);
	r->client_cycles_per_req = compute_per_request(&w->client, CYCLES, n);
	r->server_cpu_us_per_req = server / 1e3 / n;
	r->server_busy_percent = limit_percent(mains.most_ns, ns);
	r->server_cycles_per_req = compute_per_request(&w->server, CYCLES, n);
	r->server_instructions_per_req =
	    compute_per_request(&w->server, INSTRUCTIONS, n);
	r->memory_mb = b->memory_mb;
	if (load->active_s > 0) {
		r->sampled = make_slice_metrics(w);
		r->machine = json_object();
	} else {
		r->sampled = sampler_metrics(d);
		r->samples = sampler_series(d);
		r->machine = sampler_machine(d);
	}
	json_set_num(r->machine, "steal_percent", sampler_steal_percent(a, b));
	json_set_num(r->machine, "foreign_cpu_percent",
	    sampler_foreign_percent(a, b, watch_spent_ns(w) + load->others_ns));
	r->bound = watch_bound((struct watch_busy){r->server_busy_percent,
				   limit_percent(mains.wanted_ns, ns)},
	    (struct watch_busy){r->client_busy_percent,
		limit_percent(client.wanted_ns, threads_ns)});
}

struct json *
watch_cost_metrics(struct watch_cost *c)
{
	if (!c->sampled)
		c->sampled = json_object();
	return c->sampled;
}

void
watch_cost_free(struct watch_cost *c)
{
	json_free(c->sampled);
	json_free(c->samples);
	json_free(c->machine);
	c->sampled = c->samples = c->machine = NULL;
}
