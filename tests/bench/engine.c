/*
 * engine: one run of the load engine, its figures on stdout as "name value".
 * For measuring the engine itself; vkb-load is the program for servers.
 */
#include "cpulist.h"
#include "err.h"
#include "hist.h"
#include "json.h"
#include "metric.h"
#include "mixspec.h"
#include "mem.h"
#include "opt.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/verify.h"
#include "vkb-load/engine/template.h"
#include "vkb-load/meter/watch.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opts {
	const char *host, *unixsocket, *dataset, *element, *cacert, *cert, *key,
	    *cpus;
	const char *user, *password, *spec, *values, *ttl, *mix, *replay;
	struct opt_list ports, pids, commands;
	long long max_lost, maxdocs, clients, pipeline, requests, data, keys,
	    threads, db, seed;
	double duration, warmup, rate, timeout, speed;
	bool fill, only_fill, cluster, poisson, sequential, first_byte, tls;
	bool resp3, in_order, verify;
	bool series, progress;
};

#define MOST 16 /* streams */
#define FIELD(f) offsetof(struct opts, f)
static const struct opt table[] = {
    {'H', "host", OPT_STR, FIELD(host), "HOST", .help = "server"},
    {'p', "port", OPT_LIST, FIELD(ports), "PORT", .help = "one per node"},
    {0, "pid", OPT_LIST, FIELD(pids), "PID", .help = "of each node"},
    {'s', "socket", OPT_STR, FIELD(unixsocket), "PATH", .help = "unix socket"},
    {'t', "test", OPT_LIST, FIELD(commands), "NAME",
	.help = "SET, GET, a template; each is a stream"},
    {0, "dataset", OPT_STR, FIELD(dataset), "FILE", .help = "of a template"},
    {0, "element", OPT_STR, FIELD(element), "NAME", .help = "of its rows"},
    {0, "maxdocs", OPT_INT, FIELD(maxdocs), "N", .min = 0, .max = 1e12,
	.help = "so many of its rows"},
    {'c', "clients", OPT_INT, FIELD(clients), "N", .min = 1, .max = 1e5,
	.help = "connections"},
    {'P', "pipeline", OPT_INT, FIELD(pipeline), "N", .min = 1, .max = 1e5,
	.help = "requests in a batch"},
    {'n', "requests", OPT_INT, FIELD(requests), "N", .min = 1, .max = 1e12,
	.help = "stop after N"},
    {'d', "data", OPT_INT, FIELD(data), "N", .min = 0, .max = 1e9,
	.help = "bytes of a value"},
    {'r', "keys", OPT_INT, FIELD(keys), "N", .min = 0, .max = 1e12,
	.help = "key space"},
    {0, "replay", OPT_STR, FIELD(replay), "FILE", .help = "send a trace"},
    {0, "speed", OPT_REAL, FIELD(speed), "N", .min = 0, .max = 1e6,
	.help = "of its times; 0: closed loop"},
    {0, "spec", OPT_STR, FIELD(spec), "SPEC", .help = "how keys are drawn"},
    {0, "values", OPT_STR, FIELD(values), "SPEC", .help = "what is written"},
    {0, "ttl", OPT_STR, FIELD(ttl), "TIME", .help = "of what SET writes"},
    {0, "mix", OPT_STR, FIELD(mix), "MIX", .help = "instead of a test"},
    {0, "in-order", OPT_FLAG, FIELD(in_order), NULL, .help = "its commands"},
    {'T', "threads", OPT_INT, FIELD(threads), "N", .min = 1, .max = 1024,
	.help = "client threads"},
    {0, "db", OPT_INT, FIELD(db), "N", .min = 0, .max = 1e6, .help = "SELECT"},
    {0, "seed", OPT_INT, FIELD(seed), "N", .min = 0, .max = 1e15,
	.help = "of the random numbers"},
    {'D', "duration", OPT_DURATION, FIELD(duration), "TIME",
	.help = "stop after TIME"},
    {'w', "warmup", OPT_DURATION, FIELD(warmup), "TIME", .help = "not counted"},
    {'R', "rate", OPT_REAL, FIELD(rate), "N", .min = 0, .max = 1e9,
	.help = "requests/s, open loop"},
    {0, "timeout", OPT_DURATION, FIELD(timeout), "TIME",
	.help = "without a reply"},
    {0, "max-lost", OPT_INT, FIELD(max_lost), "N", .min = 0, .max = 1e15,
	.help = "requests and connections"},
    {0, "cpus", OPT_STR, FIELD(cpus), "LIST", .help = "of the client"},
    {0, "user", OPT_STR, FIELD(user), "NAME", .help = "for AUTH"},
    {0, "password", OPT_STR, FIELD(password), "TEXT", .help = "for AUTH"},
    {0, "tls", OPT_FLAG, FIELD(tls), NULL, .help = "talk TLS"},
    {0, "cacert", OPT_STR, FIELD(cacert), "FILE", .help = "TLS"},
    {0, "cert", OPT_STR, FIELD(cert), "FILE", .help = "TLS"},
    {0, "key", OPT_STR, FIELD(key), "FILE", .help = "TLS"},
    {0, "cluster", OPT_FLAG, FIELD(cluster), NULL, .help = "a cluster"},
    {0, "fill", OPT_FLAG, FIELD(fill), NULL, .help = "seed it first"},
    {0, "only-fill", OPT_FLAG, FIELD(only_fill), NULL, .help = "seed, end"},
    {0, "poisson", OPT_FLAG, FIELD(poisson), NULL, .help = "arrivals"},
    {'3', "resp3", OPT_FLAG, FIELD(resp3), NULL, .help = "HELLO 3"},
    {0, "sequential", OPT_FLAG, FIELD(sequential), NULL, .help = "keys"},
    {0, "first-byte", OPT_FLAG, FIELD(first_byte), NULL, .help = "latency"},
    {0, "verify", OPT_FLAG, FIELD(verify), NULL, .help = "what is read"},
    {0, "series", OPT_FLAG, FIELD(series), NULL, .help = "each interval"},
    {0, "progress", OPT_FLAG, FIELD(progress), NULL, .help = "on stderr"}, {0}};

static volatile int stop;

static void
interrupted(int sig)
{
	(void)sig;
	stop = 1;
}

static void
show(const char *name, double v)
{
	if (!isnan(v))
		printf("%s %.10g\n", name, v);
}

/* Shows avg_latency_ms as avg_ms, and so on. */
static void
show_latencies(const struct hist *h)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (m->hist && strcmp(m->hist, "latency_ns") == 0 &&
		    hist_count(h))
			printf("%.*s_ms %.10g\n", (int)strcspn(m->name, "_"),
			    m->name, metric_time(m, h));
	show("p90_ms", (double)hist_quantile(h, .9) / 1e6);
}

static void
report(
    const struct engine_result *r, const struct watch_cost *cost, bool series)
{
	const char *bound = watch_bound_name(cost->bound);
	size_t i;

	show("requests", (double)r->requests);
	show("elapsed_s", r->elapsed_s);
	show("start_s", (double)r->start_ns / 1e9);
	show("end_s", (double)r->end_ns / 1e9);
	show("rps", r->rps);
	show("recorded", (double)hist_count(r->latency));
	show_latencies(r->latency);
	if (r->service)
		show("service_p99_ms",
		    (double)hist_quantile(r->service, .99) / 1e6);
	show("hit_rate_percent", r->hit_rate_percent);
	show("refilled", (double)r->refilled);
	show("client_cpu_us_per_req", cost->client_cpu_us_per_req);
	show("client_cycles_per_req", cost->client_cycles_per_req);
	show("client_busy_percent", cost->client_busy_percent);
	show("server_cpu_us_per_req", cost->server_cpu_us_per_req);
	show("server_cycles_per_req", cost->server_cycles_per_req);
	show("server_instructions_per_req", cost->server_instructions_per_req);
	show("server_busy_percent", cost->server_busy_percent);
	show("foreign_cpu_percent",
	    json_get_num(cost->machine, "foreign_cpu_percent", NAN));
	show(
	    "steal_percent", json_get_num(cost->machine, "steal_percent", NAN));
	show("memory_mb", cost->memory_mb);
	show("offered_rps", r->offered_rps);
	show("max_backlog", r->max_backlog);
	printf("bound %s\n", bound ? bound : "unknown");
	show("lost", r->lost);
	show("unanswered", r->unanswered);
	show("reconnects", r->reconnects);
	show("pushes", r->pushes);
	show("errors_total", (double)r->errors_total);
	show("refused", (double)r->refused);
	if (r->verified.on) {
		show("checked", (double)r->verified.checked);
		show("missing", (double)r->verified.missing);
		show("wrong", (double)r->verified.errors);
	}
	for (i = 0; i < r->verified.nfirst; i++)
		printf("differs %s\n", r->verified.first[i]);
	for (i = 0; i < r->nerrors; i++)
		printf("error %s: %llu: %s\n", r->errors[i].kind,
		    (unsigned long long)r->errors[i].count, r->errors[i].text);
	for (i = 0; i < r->nomitted; i++)
		printf("omitted %s: %llu: %s\n", r->omitted[i].kind,
		    (unsigned long long)r->omitted[i].count,
		    r->omitted[i].text);
	for (i = 0; series && i < r->nintervals; i++)
		printf("interval %g %g %llu %g %g %g\n", r->intervals[i].at_s,
		    r->intervals[i].length_s,
		    (unsigned long long)r->intervals[i].requests,
		    r->intervals[i].p50_ms, r->intervals[i].p99_ms,
		    r->intervals[i].max_ms);
}

static void
report_parts(const struct engine_result *r, const struct mixspec_part *parts)
{
	const struct watch_cost none = {.client_cpu_us_per_req = NAN,
	    .client_cycles_per_req = NAN,
	    .client_busy_percent = NAN,
	    .server_cpu_us_per_req = NAN,
	    .server_cycles_per_req = NAN,
	    .server_instructions_per_req = NAN,
	    .server_busy_percent = NAN,
	    .memory_mb = NAN};

	for (size_t i = 0; i < r->nparts; i++) {
		printf(
		    "part %s\n", parts ? parts[i].command : r->parts[i].name);
		report(&r->parts[i], &none, false);
	}
}

static void
progress(void *arg, const struct engine_progress *p)
{
	(void)arg;
	fprintf(stderr, "%s%3.0f %% %.0f requests/s p99 %.3f ms\n",
	    p->seeding       ? "seeding "
		: p->warmup  ? "warming up "
		: p->reading ? "reading back "
			     : "",
	    100 * p->done, p->rps, p->p99_ms);
}

/* Reads the rows of a template that names fields. 0, or -1 and reported. */
static int
read_rows(
    struct engine_work *w, const struct opts *o, struct datasets *datasets)
{
	struct dataset_want want = {.path = o->dataset,
	    .xml_element = o->element,
	    .maxdocs = o->maxdocs};
	const struct engine_target single = {0};
	struct template *t;
	char *why;
	int rc;

	if (command_known(w->command))
		return 0;
	t = template_new(&single, w, &why);
	if (!t)
		return err_fail("'%s': %s", w->command, why);
	want.fields = template_fields(t);
	if (*want.fields)
		w->rows = datasets_get(datasets, &want, NULL, NULL);
	rc = *want.fields && !w->rows ? -1 : 0;
	template_free(t);
	return rc;
}

int
main(int argc, char **argv)
{
	static const struct opt_prog prog = {.name = "engine",
	    .operands = "",
	    .purpose = "one run of the load engine",
	    .table = table};
	struct opts o = {.host = "127.0.0.1",
	    .clients = 50,
	    .pipeline = 1,
	    .data = 16,
	    .keys = 1000000,
	    .threads = 1,
	    .speed = 1};
	struct engine_node nodes[64] = {0};
	struct engine_target t = {.nodes = nodes};
	struct engine_work w = {0}, works[MOST] = {{0}};
	struct mixspec mix = {.n = 0};
	struct engine_result r[MOST] = {{0}};
	struct datasets *datasets = datasets_new();
	struct watch_cost cost = {0};
	struct engine_meter meter;
	struct watch *watch;
	uint64_t requests = 0;
	struct opt_args args;
	const char *why;
	cpu_set_t cpus;
	size_t i, n;
	int rc;

	err_init(argv[0]);
	rc = opt_parse(&prog, argc, argv, &o, &args);
	if (rc)
		return rc < 0 ? 2 : 0;
	if (o.cpus && cpulist_parse(o.cpus, &cpus, &why) < 0)
		err_die("--cpus: %s", why);
	why = o.spec ? keyspec_parse(o.spec, &w.keys) : NULL;
	if (why)
		err_die("--spec: %s", why);
	why = o.values ? valuespec_parse(o.values, &w.values) : NULL;
	if (why)
		err_die("--values: %s", why);
	why = o.ttl ? valuespec_parse_span(
			  o.ttl, &w.options.ttl_low, &w.options.ttl_high)
		    : NULL;
	if (why)
		err_die("--ttl: %s", why);
	t.nnodes = o.ports.n && o.ports.n < 64 ? o.ports.n : 1;
	for (i = 0; i < t.nnodes; i++) {
		nodes[i].host = o.host;
		nodes[i].port = o.ports.n ? atoi(o.ports.v[i]) : 6379;
		nodes[i].pid = i < o.pids.n ? atoi(o.pids.v[i]) : 0;
		nodes[i].unixsocket = o.unixsocket;
	}
	t.cluster = o.cluster;
	t.how = (struct tls_options){
	    .cacert = o.cacert, .cert = o.cert, .key = o.key};
	t.tls = o.tls ? tls_context_new(&t.how) : NULL;
	if (o.tls && !t.tls)
		return 2;
	t.servername = o.tls ? o.host : NULL;
	t.user = o.user;
	t.password = o.password;
	t.db = (int)o.db;
	w.data_size =
	    o.values ? (long long)(valuespec_mean(&w.values) + .5) : o.data;
	w.keyspacelen = o.keys;
	w.pipeline = (int)o.pipeline;
	w.clients = (int)o.clients;
	w.threads = (int)o.threads;
	w.requests = o.requests;
	w.duration_s = o.requests ? 0 : o.duration > 0 ? o.duration : !o.replay;
	w.warmup_s = o.warmup;
	if (o.sequential)
		w.keys.kind = KEYSPEC_SEQUENTIAL;
	w.resp3 = o.resp3;
	w.verify = o.verify;
	w.seed = (uint64_t)o.seed;
	w.cpus = o.cpus ? &cpus : NULL;
	w.batch_first_byte = o.first_byte;
	w.rate = o.rate;
	w.arrivals = o.poisson ? ENGINE_POISSON : ENGINE_CONSTANT;
	w.timeout_s = o.timeout;
	w.max_lost = o.max_lost;
	if (o.mix) {
		why = mixspec_parse(o.mix, &mix);
		if (why)
			err_die("--mix: %s", why);
		w.mix = mix.v;
		w.nmix = mix.n;
		w.in_order = o.in_order;
	}
	n = o.commands.n ? o.commands.n : 1;
	for (i = 0; i < n && i < MOST; i++) {
		works[i] = w;
		works[i].command = o.replay ? "REPLAY"
		    : o.mix                 ? o.mix
		    : o.commands.n          ? o.commands.v[i]
					    : "SET";
		works[i].replay = o.replay;
		works[i].replay_speed = o.speed;
	}
	n = i;
	signal(SIGINT, interrupted);
	rc = 0;
	for (i = 0; i < n && rc == 0 && (o.fill || o.only_fill); i++)
		rc = engine_seed(
		    &t, &works[i], &stop, o.progress ? progress : NULL, NULL);
	for (i = 0; i < n; i++)
		works[i].filled = o.fill;
	for (i = 0; i < n && rc == 0 && o.dataset; i++)
		rc = read_rows(&works[i], &o, datasets);
	if (rc == 0 && !o.only_fill) {
		watch = watch_new(&t);
		meter = watch_meter(watch);
		rc = engine_run(&t, works, n, &stop,
		    o.progress ? progress : NULL, NULL, &meter, r);
		for (i = 0; i < n; i++)
			requests += r[i].requests;
		watch_report(
		    watch, &(struct watch_load){.requests = requests}, &cost);
		watch_free(watch);
		if (rc == 0)
			rc = verify_read_back(&t, works, n, &stop,
			    o.progress ? progress : NULL, NULL, r);
		for (i = 0; i < n; i++) {
			if (n > 1)
				printf("stream %zu\n", i + 1);
			if (rc == 0 || r[i].requests) {
				report(&r[i], &cost, o.series);
				report_parts(&r[i], works[i].mix);
			}
			engine_result_free(&r[i]);
		}
	}
	watch_cost_free(&cost);
	datasets_free(datasets);
	tls_context_free(t.tls);
	mixspec_free(&mix);
	free(o.ports.v);
	free(o.pids.v);
	free(o.commands.v);
	return rc < 0 ? 2 : 0;
}
