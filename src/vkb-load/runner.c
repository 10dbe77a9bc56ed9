#include "runner.h"
#include "clock.h"
#include "command.h"
#include "coproc.h"
#include "cpulist.h"
#include "engine.h"
#include "engines.h"
#include "err.h"
#include "figures.h"
#include "json.h"
#include "looks.h"
#include "mem.h"
#include "precise.h"
#include "progress.h"
#include "record.h"
#include "results.h"
#include "running.h"
#include "str.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What belongs to this run alone. */
struct one {
	struct runner *r;
	const struct json *cas, *config, *build;
	const struct engine *engine;
	struct json *rec;
	struct json *raw; /* what the engine printed; NULL: nothing */
	char id[64];      /* of its server */
	uint64_t seed;
	struct str error;
};

/* The message that was said last is why it failed. */
static int
failed(struct one *x)
{
	if (x->error.len)
		str_add(&x->error, "; ");
	str_add(&x->error, err_last());
	return -1;
}

/* vkb-serve has said it already. */
static int
server_failed(struct one *x, const struct json *server)
{
	const char *why = json_get_str(server, "error");

	str_printf(&x->error, "%s%s", x->error.len ? "; " : "",
	    why ? why : "the server failed");
	return -1;
}

static void
set_subject(struct one *x, const struct json *server)
{
	struct json *s = json_get(x->rec, "subject");
	const char *sha = json_str(json_path(server, "binary.sha256"));

	json_set_str(s, "server_version", json_get_str(server, "version"));
	json_set_str(s, "binary_sha256", sha);
}

static void
set_env(struct one *x)
{
	struct json *env = json_dup(x->r->env);
	const struct json *cpus = json_path(x->cas, "server.cpus");
	struct str s = {0};

	json_set_str(
	    env, "client_cpus", json_str(json_path(x->cas, "client.cpus")));
	if (x->r->running) {
		if (!running_local(x->r->running))
			json_set_bool(env, "remote", true);
	} else {
		for (const struct json *j = json_first(cpus); j;
		     j = json_next(j))
			str_printf(&s, "%s%s", s.len ? " " : "", json_str(j));
		json_set_str(env, "server_cpus", s.s);
		if (!json_bool(json_path(x->cas, "server.aslr"), true))
			json_set_str(env, "aslr", "disabled");
	}
	str_free(&s);
	json_set(x->rec, "env", env);
}

/* Both sides of a block get the same random numbers. */
static uint64_t
seed_of(const struct one *x, const struct slot *s)
{
	const struct json *own = json_path(x->cas, "client.seed");
	struct str text = {0};
	uint64_t h = STR_HASH;

	if (own)
		return (uint64_t)json_num(own, 0);
	h = str_hash(h, &x->r->seed, sizeof x->r->seed);
	record_room(&text, x->config);
	h = str_hash(h, text.s, text.len);
	h = str_hash(h, &s->index, sizeof s->index);
	str_free(&text);
	return h >> 32; /* short enough to be typed again */
}

static void
begin(struct one *x, const struct slot *s)
{
	struct json *run = json_object(), *subject;
	char now[CLOCK_ISO];

	x->rec = record_new("run");
	subject = json_get(x->build, "subject");
	json_set(
	    x->rec, "subject", subject ? json_dup(subject) : json_object());
	json_set(x->rec, "config", json_dup(x->config));
	json_set_str(run, "session", x->r->session);
	json_set_num(run, "index", (double)s->index);
	if (s->block)
		json_set_num(run, "block", (double)s->block);
	json_set_num(run, "order", (double)++x->r->order);
	json_set_str(run, "started", clock_iso(now));
	x->seed = seed_of(x, s);
	json_set_num(run, "seed", (double)x->seed);
	looks_record(x->r->looks, x->config, run);
	json_set(x->rec, "run", run);
	json_set(x->rec, "about", json_dup(json_get(x->cas, "about")));
	set_env(x);
}

/* The module of the build takes the place, and the arguments, of the case's. */
static struct json *
own_module(const struct one *x)
{
	const char *path = json_get_str(x->build, "module");
	const struct json *of_case = json_path(x->cas, "server.modules");
	struct json *list, *m;

	if (!path)
		return NULL;
	list = json_array();
	m = json_object();
	json_set_str(m, "path", path);
	of_case = json_get(json_first(of_case), "args");
	if (of_case)
		json_set(m, "args", json_dup(of_case));
	json_push(list, m);
	return list;
}

static struct json *
spec(const struct one *x, const char *action)
{
	struct json *rec = record_new("spec"), *module;

	json_set_str(rec, "id", x->id);
	json_set_str(rec, "action", action);
	if (strcmp(action, "start") != 0)
		return rec;
	json_set_str(rec, "server", json_get_str(x->build, "server"));
	for (const struct json *m = json_first(json_get(x->cas, "server")); m;
	     m = json_next(m))
		json_set(rec, json_key(m), json_dup(m));
	module = own_module(x);
	if (module)
		json_set(rec, "modules", module);
	return rec;
}

/* A coprocess that failed us once is replaced by the next one. */
static struct json *
ask(struct one *x, const char *action)
{
	struct json *s, *answer;

	if (!x->r->coproc)
		x->r->coproc = coproc_start();
	if (!x->r->coproc)
		return NULL;
	s = spec(x, action);
	answer = coproc_ask(x->r->coproc, s, x->r->stop);
	json_free(s);
	if (!answer) {
		coproc_close(x->r->coproc);
		x->r->coproc = NULL;
	}
	return answer;
}

static double
timeout_of(const struct one *x)
{
	return x->r->timeout_s > 0
	    ? x->r->timeout_s
	    : json_num(json_path(x->cas, "client.timeout_s"), 0);
}

/* The server record, the caller's; NULL: failed. */
static struct json *
start(struct one *x)
{
	struct json *server;

	if (x->r->running) {
		if (running_prepare(x->r->running, x->config, timeout_of(x)) <
		    0) {
			failed(x);
			return NULL;
		}
		return json_dup(running_record(x->r->running));
	}
	server = ask(x, "start");
	if (!server) {
		failed(x);
		return NULL;
	}
	if (strcmp(json_get_str(server, "status"), "ok") == 0)
		return server;
	server_failed(x, server);
	json_free(server);
	return NULL;
}

/* How it ended tells whether it lived until now. */
static int
end(struct one *x)
{
	struct json *server;
	int rc = 0;

	if (x->r->running)
		return running_restore(x->r->running) < 0 ? failed(x) : 0;
	if (!x->r->coproc) /* went with its servers */
		return 0;
	server = ask(x, "stop");
	if (!server)
		return failed(x);
	if (strcmp(json_get_str(server, "status"), "failed") == 0)
		rc = server_failed(x, server);
	json_free(server);
	return rc;
}

static void
describe(const struct one *x, struct engine_work *w, cpu_set_t *cpus)
{
	const struct json *c = x->config;
	const char *latency = json_get_str(c, "latency");
	const char *arrivals = json_get_str(c, "arrivals"), *why;
	const struct json *pin = json_path(x->cas, "client.cpus");

	*w = (struct engine_work){.command = json_get_str(c, "command"),
	    .data_size = (long long)json_get_num(c, "data_size", 3),
	    .keyspacelen = (long long)json_get_num(c, "keyspacelen", 0),
	    .pipeline = (int)json_get_num(c, "pipeline", 1),
	    .clients = (int)json_get_num(c, "clients", 1),
	    .threads = (int)json_get_num(c, "benchmark_threads", 1),
	    .requests = (long long)json_get_num(c, "requests", 0),
	    .duration_s = json_get_num(c, "duration_s", 0),
	    .warmup_s = json_get_num(c, "warmup_s", 0),
	    .sequential = json_get_bool(c, "sequential", false),
	    .seed = x->seed,
	    .rate = json_get_num(c, "rate", 0),
	    .timeout_s = timeout_of(x)};
	if (!command_known(w->command)) {
		w->text = w->command;
		w->dataset = json_get_str(c, "dataset");
		w->xml_element = json_get_str(c, "xml_root_element");
		w->maxdocs = (long long)json_get_num(c, "maxdocs", 0);
	}
	w->batch_first_byte = latency && strcmp(latency, "request") != 0;
	if (arrivals && strcmp(arrivals, "poisson") == 0)
		w->arrivals = ENGINE_POISSON;
	if (pin && cpulist_parse(json_str(pin), cpus, &why) == 0)
		w->cpus = cpus;
}

static void
watch(void *arg, const struct engine_progress *e)
{
	struct runner *r = arg;

	if (*r->stop || coproc_news(r->coproc))
		r->halt = 1;
	progress_draw(r->progress, e);
}

/* A server of our own has the password that its case gives it. */
static void
login(const struct one *x, struct target *t)
{
	const char *own =
	    json_str(json_path(x->cas, "server.config.requirepass"));

	if (x->r->running)
		running_login(t);
	else
		t->e.password = own && *own ? own : NULL;
}

static void
keep_figures(
    struct one *x, const struct target *t, const struct engine_result *result)
{
	figures_set(x->rec, result);
	target_memory(t, json_get(x->rec, "metrics"));
}

/* 'attempt': what an engine tries before the first run of a case. */
static int
measure(struct one *x, const struct json *server, bool attempt)
{
	struct engine_result result = {0};
	struct engine_work work;
	struct target t;
	cpu_set_t cpus;
	struct engine_job job = {.cas = x->cas,
	    .target = &t,
	    .work = &work,
	    .nwork = 1,
	    .stop = &x->r->halt,
	    .progress = watch,
	    .arg = x->r,
	    .rec = x->rec,
	    .raw = &x->raw};
	int rc = -1;

	describe(x, &work, &cpus);
	if (target_make(&t, server,
		json_get_bool(x->config, "unixsocket", false)) < 0) {
		failed(x);
		goto out;
	}
	login(x, &t);
	t.e.timeout_s = work.timeout_s;
	if (attempt)
		rc = x->engine->attempt(x->engine->self, &job);
	else
		rc = x->engine->run(x->engine->self, &job, &result);
	if (rc != 0 && !x->r->halt)
		failed(x);
	if (!attempt && (rc >= 0 || result.requests))
		keep_figures(x, &t, &result);
	rc = rc == 0 ? 0 : -1;
out:
	engine_result_free(&result);
	target_free(&t);
	return rc;
}

static int
keep(struct one *x, const struct slot *s, int rc)
{
	struct json *run;

	json_set_str(x->rec, "status", rc < 0 ? "failed" : "ok");
	if (rc < 0) {
		json_set_str(x->rec, "error",
		    x->error.len ? x->error.s : "the run was cut short");
		err_say(
		    "%s: run %zu failed", json_get_str(x->cas, "id"), s->index);
	}
	progress_wipe();
	if (x->r->machine && results_write(x->r->results, x->r->machine) < 0)
		return -1;
	x->r->machine = NULL; /* it is there */
	if (x->raw) {
		run = json_object();
		json_set_str(run, "session", x->r->session);
		json_set_num(run, "order", (double)x->r->order);
		json_set(x->raw, "run", run);
		if (results_write(x->r->results, x->raw) < 0)
			return -1;
	}
	if (results_write(x->r->results, x->rec) < 0)
		return -1;
	if (rc == 0)
		precise_add(x->r->precise, s->cas, s->build, s->index,
		    json_get(x->rec, "metrics"));
	progress_end(x->r->progress, s->cas, x->rec);
	return rc < 0;
}

/* A server for one run, or for one attempt. */
static int
serve(struct one *x, bool attempt)
{
	struct runner *r = x->r;
	struct json *server;
	int rc = -1;

	r->halt = 0;
	snprintf(x->id, sizeof x->id, "%s-%zu%s", r->session, r->order,
	    attempt ? "-try" : "");
	server = start(x);
	if (server) {
		set_subject(x, server);
		rc = measure(x, server, attempt);
	}
	if ((r->running || (server && !*r->stop)) && end(x) < 0)
		rc = -1;
	json_free(server);
	return *r->stop ? -1 : rc;
}

int
runner_run(struct runner *r, const struct slot *s)
{
	struct one x = {.r = r,
	    .cas = r->cases[s->cas],
	    .build = r->builds[s->build],
	    .engine = engines_find(r->engines, r->cases[s->cas])};
	int rc = 0;

	x.config = json_get(x.cas, "config");
	begin(&x, s);
	if (x.engine->untried(x.engine->self, x.cas))
		rc = serve(&x, true);
	if (rc == 0)
		rc = serve(&x, false);
	if (*r->stop)
		rc = -1;
	else
		rc = keep(&x, s, rc);
	json_free(x.raw);
	json_free(x.rec);
	str_free(&x.error);
	return rc;
}
