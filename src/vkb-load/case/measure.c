#include "measure.h"
#include "client.h"
#include "clock.h"
#include "context.h"
#include "counting.h"
#include "engines.h"
#include "err.h"
#include "errorcheck.h"
#include "extserver.h"
#include "fdlimit.h"
#include "handle.h"
#include "hdrfile.h"
#include "json.h"
#include "keyspace.h"
#include "live.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "peers.h"
#include "profiles.h"
#include "record.h"
#include "replicas.h"
#include "resultrecord.h"
#include "roles.h"
#include "room.h"
#include "str.h"
#include "target.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/rowset.h"
#include "vkb-load/engine/slotmap.h"
#include "vkb-load/engine/template.h"
#include "vkb-load/engine/verify.h"
#include "vkb-load/meter/watch.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Fills the servers before a case is measured or counted. */

#define CONNECTIONS 50
#define BATCH 16

static void
check_result(const char *with, struct engine_result *r, int *rc)
{
	if (*rc == 0 && r->refused)
		*rc = err_fail("the server cannot be filled by '%s': %llu of "
			       "%llu requests were refused: %s",
		    with, (unsigned long long)r->refused,
		    (unsigned long long)r->requests, r->refusal);
	engine_result_free(r);
}

/*
 * Runs 'with', a test or a command, once for each number of the key space; does
 * nothing if it is NULL. 'like' is the stream that will be measured. Sets
 * *known to the values that a verified load wrote, or NULL; freed with
 * verify_written_free. Returns 0, or -1 after reporting an error, or -1
 * silently when *stop is set.
 */
static int
populate_keys(const struct target *t, const char *with,
    const struct engine_work *like, const volatile int *stop,
    engine_progress_fn *progress, void *arg, struct verify_written **known)
{
	struct engine_work w = *like;
	struct engine_result result = {0};
	char *name;
	int rc;

	if (!with)
		return 0;
	name = str_upper(with);
	w.command = command_known(name) ? name : with;
	w.nmix = 0;
	w.data = NULL;
	w.requests = w.keyspacelen > 0 ? w.keyspacelen : 1;
	w.keys = (struct keyspec){.kind = KEYSPEC_SEQUENTIAL};
	w.clients = w.requests < CONNECTIONS ? (int)w.requests : CONNECTIONS;
	if (w.in_turn)
		w.clients = 1;
	w.pipeline = BATCH;
	w.duration_s = w.warmup_s = w.rate = 0;
	w.options = (struct command_options){0};
	w.ramp = (struct ratespec){0};
	w.conns = (struct engine_conns){0};
	rc = engine_run(&t->e, &w, 1, stop, progress, arg, NULL, &result);
	*known = result.written;
	result.written = NULL;
	check_result(with, &result, &rc);
	free(name);
	return rc;
}

/* Sends commands once, before or after a case is measured. */

#define HOPS 16

/*
 * Returns the node that the answer "MOVED SLOT HOST:PORT" of node 'from' names,
 * or SIZE_MAX. Its host may have another name there than in the configuration.
 */
static size_t
find_moved_node(const struct target *t, size_t from, const struct reply *r)
{
	const char *text = reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
	size_t found = SIZE_MAX, same_port = 0;
	struct slotmap_hint h;

	if (!text || !str_starts(text, "MOVED ") ||
	    !slotmap_read_moved(&h, text, t->nodes[from].host))
		return SIZE_MAX;
	for (size_t i = 0; i < t->e.nnodes; i++) {
		if (t->nodes[i].port != h.port)
			continue;
		if (strcmp(t->nodes[i].host, h.host) == 0)
			return i;
		found = i;
		same_port++;
	}
	return same_port == 1 ? found : SIZE_MAX;
}

/* Frees the answer. Returns 0, or -1 after reporting that it is an error. */
static int
check_answer(struct reply *r, const char *what, const char *text)
{
	const char *error = reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
	int rc = 0;

	if (error)
		rc = err_fail("%s '%s': %s", what, text, error);
	reply_free(r);
	return rc;
}

static int
send_command(
    const struct target *t, const char *text, char **words, const char *what)
{
	struct client *c;
	struct reply *r;
	size_t node = 0, next;

	for (int hop = 0;; hop++) {
		c = target_client(t, node);
		if (!c)
			return -1;
		r = client_call(
		    c, control_ms(&t->e, 0), (const char *const *)words);
		if (!r)
			err_say("%s '%s': %s", what, text, client_error(c));
		client_close(c);
		if (!r)
			return -1;
		next = find_moved_node(t, node, r);
		if (next == SIZE_MAX || hop == HOPS)
			return check_answer(r, what, text);
		node = next;
		reply_free(r);
	}
}

/*
 * Sends each command of the list to the node that has its key. Returns 0, or -1
 * after reporting an error reply or a timeout. 'what' begins the message:
 * "setup command".
 */
static int
setup_run(const struct target *t, const struct json *list, const char *what)
{
	const char *why;
	char **words, *text;
	size_t n;
	int rc = 0;

	for (const struct json *v = json_first(list); v && rc == 0;
	     v = json_next(v)) {
		text = command_expand_prefix(json_str(v), t->e.prefix);
		words = command_split(text, &n, &why);
		if (!words)
			rc = err_fail("%s '%s': %s", what, text, why);
		else if (n)
			rc = send_command(t, text, words, what);
		mem_free_list(words);
		free(text);
	}
	return rc;
}

/*
 * Idle connections: a case may ask for so many (idle_clients), which are open
 * while its load runs and send nothing.
 */

struct idle {
	const struct target *target;
	struct client **v; /* owned */
	size_t n;          /* opened */
};

/* Returns NULL if a connection answers a PING, else what is wrong; borrowed
 * from the connection or *reply, which the caller frees. */
static const char *
ping_server(const struct target *t, struct client *c, struct reply **reply)
{
	*reply = CLIENT_CALL(c, control_ms(&t->e, 0), "PING");
	if (!*reply)
		return client_error(c);
	if (reply_type(*reply) == REPLY_ERROR &&
	    str_starts(reply_text(*reply), "ERR max number of clients"))
		return reply_text(*reply);
	return NULL;
}

/* Opens the next connection of n. Returns 0, or -1 after reporting an error. */
static int
open_next(struct idle *x, size_t n)
{
	const struct target *t = x->target;
	size_t node = x->n % t->e.nnodes;
	struct client *c = target_client(t, node);
	struct reply *r = NULL;
	const char *wrong;
	int rc = 0;

	if (!c)
		return err_fail(
		    "idle connection %zu of %zu: %s", x->n + 1, n, err_last());
	x->v[x->n++] = c;
	wrong = ping_server(t, c, &r);
	if (wrong)
		rc = err_fail("idle connection %zu of %zu: the server at %s:%d "
			      "answers '%s': 'maxclients' of the server must "
			      "be above all connections together",
		    x->n, n, t->nodes[node].host, t->nodes[node].port, wrong);
	reply_free(r);
	return rc;
}

static void
close_all(struct idle *x)
{
	for (size_t i = 0; i < x->n; i++)
		client_close(x->v[i]);
	free(x->v);
	free(x);
}

/*
 * Opens the idle connections of the case, if it has some, to the primaries in
 * turn, and lets each answer a PING. Returns 0; or -1 after reporting an error,
 * or silently if the run is to stop.
 */
static int
idle_begin(struct measure *m, const struct target *t)
{
	size_t n = (size_t)m->cas->load.idle_clients;
	struct idle *x;
	int rc = 0;

	if (!n || m->counted)
		return 0;
	if (fdlimit_raise(n, "idle connections") < 0)
		return -1;
	x = m->idle = mem_new(sizeof *x);
	x->target = t;
	x->v = mem_array(n, sizeof(struct client *));
	while (x->n < n && rc == 0)
		rc = m->context->halt ? -1 : open_next(x, n);
	return rc;
}

/* Returns 0, or -1 after reporting how many do not answer. */
static int
check_all(struct idle *x)
{
	char *first = NULL;
	const char *wrong;
	struct reply *r;
	size_t lost = 0;
	bool hangs = false;
	int rc = 0;

	for (size_t i = 0; i < x->n && !hangs; i++) {
		errno = 0;
		wrong = ping_server(x->target, x->v[i], &r);
		hangs = wrong && errno == ETIMEDOUT;
		if (wrong && !first)
			first = mem_str(wrong);
		lost += hangs ? x->n - i : wrong != NULL;
		reply_free(r);
	}
	if (lost)
		rc = err_fail("%zu of %zu idle connections were closed during "
			      "the run: %s; see 'timeout' and "
			      "'maxmemory-clients' of the server",
		    lost, x->n, first);
	free(first);
	return rc;
}

/*
 * Closes them. If the run went well so far, as 'rc' says, fails it if some of
 * them did not stay open and answer, and else sets the metric idle_clients.
 * Returns 0 or -1.
 */
static int
idle_end(struct measure *m, int rc)
{
	struct idle *x = m->idle;

	if (!x)
		return rc;
	if (rc == 0 && check_all(x) < 0)
		rc = measure_fail(m, NULL);
	for (size_t i = 0; rc == 0 && i < m->roles.nown; i++)
		json_set_num(json_get(m->recs[i], "metrics"), "idle_clients",
		    (double)x->n);
	close_all(x);
	m->idle = NULL;
	return rc;
}

/*
 * The memory of a counted server: what a key takes, and what a client does.
 * Each is a slope, so that what the server takes anyhow is in neither.
 */

enum {
	FEW = 16, /* idle clients at the first reading */
	MANY = 48 /* and at the second */
};

/* Everything that the server does once, as for the first use of a command, is
 * done: what FLUSHALL frees is the keys and their tables. */
static int
measure_keys(const struct target *t, struct json *metrics)
{
	struct target_memory full, empty;

	if (target_read_memory(t, &full) < 0)
		return -1;
	if (!(full.keys >= TARGET_MANY_KEYS))
		return 0;
	if (keyspace_empty(t) < 0) {
		err_say("bytes_per_key is not counted, as the keys cannot be "
			"deleted");
		return 0;
	}
	if (target_read_memory(t, &empty) < 0)
		return -1;
	json_set_num(
	    metrics, "bytes_per_key", (full.used - empty.used) / full.keys);
	return 0;
}

static int
measure_clients(const struct target *t, struct json *metrics)
{
	struct client *v[MANY];
	struct idle x = {.target = t, .v = v};
	struct target_memory few = {0}, many = {0};
	bool ok = fdlimit_raise(MANY, "idle connections") == 0;
	int rc = 0;

	while (ok && x.n < FEW)
		ok = open_next(&x, MANY) == 0;
	if (ok)
		rc = target_read_memory(t, &few);
	ok = ok && rc == 0;
	while (ok && x.n < MANY)
		ok = open_next(&x, MANY) == 0;
	if (ok)
		rc = target_read_memory(t, &many);
	if (ok && rc == 0)
		json_set_num(metrics, "bytes_per_client",
		    (many.used - few.used) / (MANY - FEW));
	else if (rc == 0)
		err_say(
		    "bytes_per_client is not counted, as the server does not "
		    "take %d more connections",
		    MANY);
	while (x.n > 0)
		client_close(v[--x.n]);
	return rc;
}

/* What the records of a run say of its machine, its CPUs and its server. */

/*
 * Joins at most n texts of a list, or of the members 'each' of its objects,
 * with blanks, as the member of an object.
 */
static void
set_joined(struct json *env, const char *key, const struct json *list,
    const char *each, size_t n)
{
	struct str s = {0};
	const char *text;

	for (const struct json *j = json_first(list); j && n--;
	     j = json_next(j)) {
		text = each ? json_get_str(j, each) : json_str(j);
		if (text)
			str_printf(&s, "%s%s", s.len ? " " : "", text);
	}
	json_set_str(env, key, s.s);
	str_free(&s);
}

/* Sets the 'env' of a record of the run. */
static void
provenance_set_env(const struct measure *m, struct json *rec)
{
	struct json *env = json_dup(m->context->env);
	const struct json *each = m->cas->client_cpus_each;
	size_t n = m->roles.nworks;

	if (n > 1 && json_len(each))
		set_joined(env, "client_cpus", each, NULL, n);
	else
		json_set_str(env, "client_cpus", m->cas->client_cpus);
	if (!m->context->external) {
		set_joined(
		    env, "server_cpus", m->cas->server_cpus, NULL, SIZE_MAX);
		if (m->cas->no_aslr)
			json_set_str(env, "aslr", "disabled");
		if (m->context->serve) {
			json_set_bool(env, "remote", true);
			json_set_str(
			    env, "server_host", m->context->serve->host);
		}
	} else if (!extserver_local(m->context->external))
		json_set_bool(env, "remote", true);
	json_set(rec, "env", env);
}

/*
 * Sets the hash of the first module. A build's module belongs to the subject; a
 * module that a case names does not, since cases of one session may have
 * different ones.
 */
static void
set_module(struct measure *m, const struct json *server, struct json *rec)
{
	const char *path = json_get_str(m->build, "module");
	const char *section = path ? "subject" : "env";
	const struct json *first = json_first(json_get(server, "modules"));

	json_set_str(json_get(rec, section), "module_sha256",
	    json_get_str(first, "sha256"));
	json_set_str(json_get(rec, "run"), "module_path", path);
}

/* Adds what the record of a server says of its programs to all records of the
 * run. */
static void
provenance_set_subject(struct measure *m, const struct json *server)
{
	const char *sha = json_str(json_path(server, "binary.sha256"));
	const char *path = json_str(json_path(server, "binary.path"));
	struct json *s;

	for (size_t i = 0; i < m->roles.n; i++) {
		s = json_get(m->recs[i], "subject");
		json_set_str(
		    s, "server_version", json_get_str(server, "version"));
		json_set_str(s, "binary_sha256", sha);
		json_set_str(s, "script_sha256",
		    json_str(json_path(server, "binary.script_sha256")));
		json_set_str(json_get(m->recs[i], "run"), "server_path", path);
		set_module(m, server, m->recs[i]);
		if (m->context->serve) /* which may have chosen the CPUs */
			set_joined(json_get(m->recs[i], "env"), "server_cpus",
			    json_get(server, "nodes"), "cpus", SIZE_MAX);
	}
}

int
measure_fail(struct measure *m, char *why)
{
	if (m->error.len)
		str_add(&m->error, "; ");
	str_add(&m->error, why ? why : err_last());
	free(why);
	return -1;
}

const char *
measure_why(const struct measure *m)
{
	return m->error.len ? m->error.s : "the run was interrupted";
}

/*
 * Both builds of a block get the same random numbers; counted runs, with a
 * session and an index of 0, get the same everywhere.
 */
static uint64_t
choose_seed(const struct measure *m, uint64_t session, size_t index)
{
	struct str text = {0};
	uint64_t h = STR_HASH;

	if (m->cas->seed >= 0)
		return (uint64_t)m->cas->seed;
	h = str_hash(h, &session, sizeof session);
	jsonpublic_canonical(&text, m->cas->config);
	h = str_hash(h, text.s, text.len);
	h = str_hash(h, &index, sizeof index);
	str_free(&text);
	return h >> 32; /* short enough to type */
}

static struct json *
make_record(const struct measure *m, const struct role *role, size_t index,
    size_t block)
{
	struct json *rec = record_new("run"), *run = json_object(), *subject;
	char now[CLOCK_ISO];

	subject = json_get(m->build, "subject");
	json_set(rec, "subject", subject ? json_dup(subject) : json_object());
	json_set(rec, "config", json_dup(role->config));
	json_set_str(run, "session", m->context->session);
	json_set_num(run, "index", (double)index);
	if (block)
		json_set_num(run, "block", (double)block);
	json_set_num(run, "order", (double)++m->context->order);
	json_set_str(run, "started", clock_iso(now));
	json_set_num(run, "seed", (double)m->roles.works[role->first].seed);
	json_set(rec, "run", run);
	json_set(rec, "about", json_dup(json_get(m->cas->record, "about")));
	provenance_set_env(m, rec);
	return rec;
}

void
measure_init(struct measure *m, struct case_context *r,
    const struct bench_case *cas, const struct json *build, size_t index,
    size_t block)
{
	*m = (struct measure){.context = r,
	    .cas = cas,
	    .build = build,
	    .engine = engines_find(r->engines, cas->record),
	    .starting = {.peers = r->peers}};
	roles_make(&m->roles, cas, choose_seed(m, r->seed, index),
	    handle_timeout(r, cas));
	if (cas->load.slo)
		slospec_parse(cas->load.slo, &m->slo); /* it was checked */
	m->recs = mem_array(m->roles.n + 1, sizeof *m->recs);
	for (size_t i = 0; i < m->roles.n; i++) {
		m->recs[i] = make_record(m, &m->roles.v[i], index, block);
		peers_set_part(&m->starting, m->recs[i], NULL);
	}
}

void
measure_profile(struct measure *m)
{
	m->profiled = json_array();
	profiles_stretch(
	    m->context->profiles, m->cas, m->roles.works, m->roles.nworks);
}

void
measure_count(struct measure *m)
{
	struct engine_work *w;
	long long seed;

	m->counted = true;
	m->profiled = json_array();
	for (size_t i = m->roles.nown; i < m->roles.n; i++)
		json_free(m->recs[i]);
	roles_keep_one_stream(&m->roles);
	for (size_t i = 0; i < m->roles.n; i++) {
		w = &m->roles.works[i];
		seed = m->roles.v[i].seed;
		counting_adapt(
		    w, seed >= 0 ? (uint64_t)seed : choose_seed(m, 0, i));
		json_set_bool(m->recs[i], "counted", true);
		json_set_num(
		    json_get(m->recs[i], "run"), "seed", (double)w->seed);
	}
}

void
measure_start_at(struct measure *m)
{
	m->starting.at_s = m->context->start_at_s;
	m->context->start_at_s = 0;
}

void
measure_show(struct measure *m)
{
	m->shown = m->context->hdr || m->context->live;
}

void
measure_free(struct measure *m)
{
	json_free(m->profiled);
	profiles_free(m->profiles);
	verify_written_free(m->known);
	for (size_t i = 0; i < m->roles.n; i++)
		json_free(m->recs[i]);
	free(m->recs);
	roles_free(&m->roles);
	json_free(m->raw);
	str_free(&m->error);
}

static void
on_progress(void *arg, const struct engine_progress *e)
{
	struct measure *m = arg;
	struct case_context *r = m->context;

	if (m->profiles)
		profiles_start_when_warm(m->profiles, e);
	if (*r->stop || handle_has_news(r->coproc) ||
	    (m->room && room_look(m->room)))
		r->halt = 1;
	peers_beat(r->peers);
	live_progress(r->live, e);
	r->show(r->progress, e);
}

/* Logs and shows an interval of a stream, under the name of its role. */
static void
on_ended(void *arg, const struct engine_ended *e)
{
	const struct measure *m = arg;
	const struct role *role = m->roles.v;
	char *build = record_subject_name(json_get(*m->recs, "subject"));

	while (e->stream >= role->first + role->n)
		role++;
	if (m->context->hdr)
		hdrfile_add(m->context->hdr, role->name, build, e);
	live_add(m->context->live, role->name, build, e);
	free(build);
}

static struct engine_job
make_job(struct measure *m, const struct target *t)
{
	return (struct engine_job){.cas = m->cas->record,
	    .target = t,
	    .work = m->roles.works,
	    .nwork = m->roles.nworks,
	    .stop = &m->context->halt,
	    .progress = on_progress,
	    .ended = m->shown ? on_ended : NULL,
	    .arg = m,
	    .rec = m->recs[0],
	    .raw = &m->raw,
	    .starting = &m->starting,
	    .slo = m->slo.metric && !m->profiled ? &m->slo : NULL,
	    .too_large = &m->context->too_large};
}

/* Sets the percentage of each role's time in which all roles ran. */
static void
set_overlap(struct measure *m, const struct engine_result *v)
{
	int64_t from = INT64_MIN, to = INT64_MAX;
	const struct engine_result *r;
	double part;

	for (size_t i = 0; i < m->roles.nown; i++) {
		r = &v[m->roles.v[i].first];
		from = r->start_ns > from ? r->start_ns : from;
		to = r->end_ns < to ? r->end_ns : to;
	}
	for (size_t i = 0; i < m->roles.nown && m->roles.nown > 1; i++) {
		r = &v[m->roles.v[i].first];
		if (r->end_ns <= r->start_ns)
			continue;
		part = to > from
		    ? (double)(to - from) / (double)(r->end_ns - r->start_ns)
		    : 0;
		json_set_num(json_get(m->recs[i], "run"), "overlap_percent",
		    round(part * 1e4) / 100);
	}
}

/* A run that failed may have partial results, or none. */
static bool
measured_something(const struct engine_result *r)
{
	return r->requests || r->lost + r->unanswered > 0;
}

/* Adds a record for each command of a trace. */
static void
add_replayed(struct measure *m, const struct engine_result *all)
{
	const struct json *run = json_get(m->recs[0], "run");
	size_t n = m->roles.n;

	if (!m->cas->trace)
		return;
	roles_add_replayed(&m->roles, all);
	m->recs = mem_resize(m->recs, m->roles.n + 1, sizeof *m->recs);
	for (; n < m->roles.n; n++)
		m->recs[n] = make_record(m, &m->roles.v[n],
		    (size_t)json_get_num(run, "index", 0),
		    (size_t)json_get_num(run, "block", 0));
}

/* Are the sizes of the keys known without reading all? */
static enum sizes_which
choose_sizes(const struct measure *m, const struct target *t)
{
	const struct engine_work *w = &m->roles.works[0];

	if (t->e.prefix)
		return SIZES_OF_OTHERS;
	return m->roles.nown == 1 && !w->nmix && !w->replay && !w->values.n &&
		command_keys_alike(w->command) && !m->cas->populate_with &&
		!m->cas->nbefore && !m->cas->setup_commands &&
		!json_get(m->cas->record, "scene")
	    ? SIZES_ALIKE
	    : SIZES_DIFFER;
}

/* Adds what the keys take to the metrics of the run. Of several parts of a load
 * one measures it. Returns the encodings, or NULL. */
static struct json *
measure_sizes(
    struct measure *m, const struct target *t, struct json *metrics, int rc)
{
	struct sizes_how how = {
	    choose_sizes(m, t), &m->context->halt, on_progress, m};

	return rc == 0 && peers_leads(m->starting.peers)
	    ? keyspace_measure_sizes(t, &how, metrics)
	    : NULL;
}

static void
set_figures(struct measure *m, const struct target *t, struct engine_result *v,
    const struct watch_cost *cost, int rc)
{
	struct json *memory = json_object(), *metrics, *encodings;
	const struct engine_result *r;
	struct role *role;

	/* If a server of our own has ended, that is reported with its log. */
	if (target_memory(t, memory) < 0 && rc != 0 && m->context->external)
		measure_fail(m, NULL);
	encodings = measure_sizes(m, t, memory, rc);
	add_replayed(m, &v[0]);
	for (size_t i = 0; i < m->roles.n; i++) {
		role = &m->roles.v[i];
		roles_merge(&v[role->first], role->n);
		r = roles_find_result(role, v);
		if (!r || (rc < 0 && !measured_something(r)))
			continue;
		result_record_set(m->recs[i], r, cost, role->part > 0);
		peers_set_part(&m->starting, m->recs[i], r);
		metrics = json_get(m->recs[i], "metrics");
		if (role->part) /* its requests are a share of the whole */
			json_set(metrics, "achieved_percent",
			    json_dup(json_path(
				m->recs[0], "metrics.achieved_percent")));
		for (const struct json *j = json_first(memory);
		     !role->part && j; j = json_next(j))
			json_set(metrics, json_key(j), json_dup(j));
		if (!role->part && json_len(encodings))
			json_set(m->recs[i], "encodings", json_dup(encodings));
	}
	json_free(encodings);
	json_free(memory);
	set_overlap(m, v);
}

/* Parts of a mixed case that the server refuses are not counted; the others
 * are. Returns how many it refused. */
static size_t
refuse_parts(struct measure *m, const struct engine_result *v)
{
	struct str names = {0};
	size_t refused = 0;
	char *why;

	for (size_t i = 0; i < m->roles.n; i++) {
		if (!v[i].refused)
			continue;
		why = mem_printf("%llu of %llu requests were refused: %s",
		    (unsigned long long)v[i].refused,
		    (unsigned long long)v[i].requests, v[i].refusal);
		str_printf(
		    &names, "%s%s", refused++ ? ", " : "", m->roles.v[i].name);
		if (refused == 1 && m->roles.n > 1)
			str_printf(&names, " (%s)", why);
		result_record_fail(m->recs[i], why);
		free(why);
	}
	if (refused && m->roles.n > 1)
		err_say("the server refuses %zu of %zu commands, which are not "
			"counted: %s",
		    refused, m->roles.n, names.s);
	str_free(&names);
	return refused;
}

static int
run_count(struct measure *m, const struct target *t, const struct json *server)
{
	struct engine_result *v = mem_array(m->roles.n, sizeof *v);
	struct engine_job job = make_job(m, t);
	int rc;

	job.counted = server;
	m->engine->run(m->engine->self, &job, 1, 0, &v, &rc);
	if (rc == 0 && refuse_parts(m, v) == m->roles.n)
		rc =
		    measure_fail(m, mem_str(json_get_str(m->recs[0], "error")));
	else if (rc != 0 && !m->context->halt)
		measure_fail(m, NULL);
	for (size_t i = 0; i < m->roles.n && rc == 0; i++)
		if (!v[i].refused &&
		    counting_report(&job, i, m->roles.v[i].name, &v[i],
			m->recs[i], m->profiled) < 0)
			rc = measure_fail(m, NULL);
	for (size_t i = 0; i < m->roles.n; i++)
		engine_result_free(&v[i]);
	free(v);
	return rc == 0 ? 0 : -1;
}

/*
 * Checks that an index finds something: a module may accept FT.CREATE and index
 * nothing, and a search without hits is fast.
 */

#define TRIES 20
#define QUERY_BYTES 65536
#define LOOK_MS 50
#define UNKNOWN "ERR unknown command"

static double
read_number(const struct reply *r)
{
	double v;

	if (reply_type(r) == REPLY_INTEGER)
		return (double)reply_integer(r);
	if (reply_text(r) && num_real(reply_text(r), &v) == 0)
		return v;
	return NAN;
}

/* Returns a field of a flat list of names and values; NAN if absent. */
static double
find_number(const struct reply *info, const char *name)
{
	const char *key;

	for (size_t i = 0; i + 1 < reply_len(info); i += 2) {
		key = reply_text(reply_at(info, i));
		if (key && strcmp(key, name) == 0)
			return read_number(reply_at(info, i + 1));
	}
	return NAN;
}

/*
 * Returns the answer to FT.INFO, or NULL. *known is false if the server has no
 * FT.INFO; else the error is reported. Caller frees with reply_free.
 */
static struct reply *
ask_index(const struct target *t, size_t node, const char *index, bool *known)
{
	struct client *c = target_client(t, node);
	struct reply *r;
	const char *error;

	*known = true;
	if (!c)
		return NULL;
	r = CLIENT_CALL(c, control_ms(&t->e, 0), "FT.INFO", index);
	error = !r                         ? client_error(c)
	    : reply_type(r) == REPLY_ERROR ? reply_text(r)
					   : NULL;
	if (error) {
		*known =
		    !r || strncasecmp(error, UNKNOWN, strlen(UNKNOWN)) != 0;
		if (*known)
			err_say("FT.INFO '%s': %s", index, error);
		reply_free(r);
		r = NULL;
	}
	client_close(c);
	return r;
}

/* Returns a number that changes while indexing makes progress; NAN: done. */
static double
measure_backlog(const struct reply *info)
{
	static const char *const busy[] = {
	    "indexing", "backfill_in_progress", "mutation_queue_size"};
	static const char *const parts[] = {
	    "percent_indexed", "backfill_complete_percent", "num_docs"};
	double sum = 0, v;
	bool yes = false;

	for (size_t i = 0; i < sizeof busy / sizeof *busy; i++) {
		v = find_number(info, busy[i]);
		yes = yes || v > 0;
		sum += isnan(v) ? 0 : v;
	}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		v = find_number(info, parts[i]);
		sum += isnan(v) ? 0 : v * (double)(i + 2);
	}
	return yes ? sum : NAN;
}

static int
wait_for_node(const struct target *t, size_t node, const char *index,
    const volatile int *stop)
{
	int64_t moved = clock_ns();
	double last = NAN, now;
	double most = control_ms(&t->e, 0) / 1e3;
	struct reply *info;
	bool known;

	while (!*stop) {
		info = ask_index(t, node, index, &known);
		if (!info)
			return known ? -1 : 0;
		now = measure_backlog(info);
		reply_free(info);
		if (isnan(now))
			return 0;
		if (!(now == last))
			moved = clock_ns();
		last = now;
		if ((double)(clock_ns() - moved) / 1e9 > most)
			return err_fail(
			    "index '%s' is not ready: indexing made "
			    "no progress for %g s",
			    index, most);
		poll(NULL, 0, LOOK_MS);
	}
	return -1;
}

/*
 * Waits until all nodes have finished indexing; a node without FT.INFO counts
 * as finished. Returns 0, or -1 after reporting that there is no such index, or
 * that it made no progress for the timeout of the target; or -1 silently when
 * *stop is set.
 */
static int
wait_for_index(
    const struct target *t, const char *index, const volatile int *stop)
{
	int rc = 0;

	for (size_t i = 0; i < t->e.nnodes && rc == 0; i++)
		rc = wait_for_node(t, i, index, stop);
	return rc;
}

/* Returns the sum of num_docs over all nodes, or -1 if no node has it. */
static double
count_documents(const struct target *t, const char *index)
{
	double sum = -1, v;
	struct reply *info;
	bool known;

	for (size_t i = 0; i < t->e.nnodes; i++) {
		info = ask_index(t, i, index, &known);
		v = info ? find_number(info, "num_docs") : NAN;
		reply_free(info);
		if (!isnan(v))
			sum = sum < 0 ? v : sum + v;
	}
	return sum;
}

/* Returns the index that a command of n words searches, borrowed, or NULL. */
static const char *
find_index(char *const *words, size_t n)
{
	return n > 2 &&
		(strcasecmp(words[0], "FT.SEARCH") == 0 ||
		    strcasecmp(words[0], "FT.AGGREGATE") == 0)
	    ? words[1]
	    : NULL;
}

static bool
is_search_only(char *const *words, size_t n)
{
	size_t k;

	for (size_t at = 0; (k = command_next(words, n, &at, NULL));
	     at += k + 1)
		if (!find_index(words + at, k))
			return false;
	return true;
}

/* Returns the number of hits of a search reply, or -1 if it has none. */
static long long
count_hits(const struct reply *r)
{
	if (!r || reply_type(r) != REPLY_ARRAY || !reply_len(r) ||
	    reply_type(reply_at(r, 0)) != REPLY_INTEGER)
		return -1;
	return reply_integer(reply_at(r, 0));
}

/* The most hits that a node found; -1 if all searches failed, see 'why'. */
struct finding {
	const struct target *t;
	long long most;
	char *why;
};

static void
ask_node(struct finding *f, size_t node, const char *bytes, size_t len)
{
	struct client *c = target_client(f->t, node);
	struct reply *r =
	    c ? client_send(c, control_ms(&f->t->e, 0), bytes, len) : NULL;
	long long n = count_hits(r);
	const char *text = !c ? err_last()
	    : !r              ? client_error(c)
			      : reply_text(r);

	if (n > f->most)
		f->most = n;
	if (n < 0 && !f->why)
		f->why =
		    mem_str(text ? text : "the reply has no number of hits");
	reply_free(r);
	client_close(c);
}

static void
ask_nodes(struct finding *f, const char *bytes, size_t len)
{
	for (size_t i = 0; i < f->t->e.nnodes && f->most <= 0; i++)
		ask_node(f, i, bytes, len);
}

/*
 * Gives a template the first rows of the dataset, which the caller frees.
 * Returns 0, or -1 after reporting an error.
 */
static int
bind_rows(struct template *t, const struct engine_work *w, struct rowset **rows)
{
	struct dataset_want want = *w->data;

	want.maxdocs = TRIES;
	want.fields = template_fields(t);
	if (!*want.fields)
		return 0;
	*rows = dataset_read(&want, NULL, NULL);
	if (!*rows)
		return -1;
	template_bind(t, *rows, 0);
	return 0;
}

/*
 * Sends some searches of the load. Returns 0, or -1 after reporting an error.
 */
static int
send_own_queries(
    struct finding *f, const struct engine_work *w, const volatile int *stop)
{
	uint64_t space = w->keyspacelen > 0 ? (uint64_t)w->keyspacelen : 1;
	struct keys keys = {.space = space, .count = space};
	const _Atomic uint64_t newest = space;
	const struct chooser *chooser = chooser_new(w, space, &newest);
	struct cursor cursor = {.chooser = chooser};
	const struct engine_target single = {.prefix = f->t->e.prefix};
	char *buf, *at, *why;
	struct template *t = template_new(&single, w, &why);
	struct rowset *rows = NULL;
	struct cmdsource *s;
	size_t len;
	int rc = -1;

	if (!t)
		err_say("'%s': %s", w->command, why);
	else
		rc = bind_rows(t, w, &rows);
	free(why);
	if (rc == 0) {
		s = template_source(t);
		buf = cmdsource_buffer(s, QUERY_BYTES);
		rng_seed(&cursor.rng, w->seed, 0);
		for (int i = 0; i < TRIES && f->most <= 0 && !*stop; i++) {
			at = cmdsource_place(s, &cursor, buf);
			s->ops->make(
			    s, &cursor, &keys, at, 1, QUERY_BYTES, &len);
			ask_nodes(f, at, len);
		}
		free(buf);
	}
	template_free(t);
	rowset_free(rows);
	chooser_free(chooser);
	return rc;
}

/* Asks for any document: the searches of a load need not find something. */
static void
find_any_document(struct finding *f, const char *index)
{
	struct str s = {0};

	client_format(&s,
	    (const char *const[]){
		"FT.SEARCH", index, "*", "LIMIT", "0", "1", NULL});
	ask_nodes(f, s.s, s.len);
	str_free(&s);
	if (f->most < 0 && count_documents(f->t, index) > 0)
		f->most = 1;
}

/*
 * Fails if an index finds nothing. 'w' makes the searches of the load; NULL:
 * its commands do more than search and must not be sent.
 */
static int
check_index(const struct target *t, const char *index,
    const struct engine_work *w, const volatile int *stop)
{
	struct finding f = {.t = t, .most = -1};
	int rc = w ? send_own_queries(&f, w, stop) : 0;

	if (rc == 0 && f.most <= 0 && !*stop)
		find_any_document(&f, index);
	if (*stop)
		rc = -1;
	else if (rc == 0 && f.most < 0)
		rc = err_fail("index '%s' cannot be searched: %s", index,
		    f.why ? f.why : "");
	else if (rc == 0 && f.most == 0)
		rc = err_fail("index '%s' finds nothing: it has indexed no "
			      "document",
		    index);
	free(f.why);
	return rc;
}

/* Checks each index that the commands of a text search. */
static int
probe_words(const struct target *t, char *const *words, size_t n,
    const struct engine_work *w, const volatile int *stop)
{
	const char *index;
	size_t k;
	int rc = 0;

	for (size_t at = 0; rc == 0 && (k = command_next(words, n, &at, NULL));
	     at += k + 1) {
		index = find_index(words + at, k);
		if (index && (rc = wait_for_index(t, index, stop)) == 0)
			rc = check_index(t, index, w, stop);
	}
	return rc;
}

/*
 * Waits until the indexes that the roles search are complete (by FT.INFO, where
 * available), then searches each for a document. A mixed case, or a text with
 * other commands too, may start with no documents; its indexes are checked
 * 'after' the run. Returns 0, or -1 after reporting an error that names the
 * index, or -1 silently when *stop is set.
 */
static int
probe_indexes(const struct target *t, const struct roles *r, bool after,
    const volatile int *stop)
{
	const char *command, *why;
	char **words, *text;
	bool alone;
	size_t n;
	int rc = 0;

	for (size_t i = 0; i < r->n && rc == 0; i++) {
		command = json_get_str(r->v[i].config, "command");
		text = command ? command_expand_prefix(command, t->e.prefix)
			       : NULL;
		words = text ? command_split(text, &n, &why) : NULL;
		free(text);
		if (!words)
			continue;
		alone = is_search_only(words, n);
		if ((r->n > 1 || !alone) == after)
			rc = probe_words(t, words, n,
			    alone && !r->v[i].load.mix
				? &r->works[r->v[i].first]
				: NULL,
			    stop);
		mem_free_list(words);
	}
	return rc;
}

/* The load of a server. */
struct load {
	struct target target;
	struct engine_job job;
	struct engine_result *results;
	struct watch_cost cost;
	struct engine_work *warmup;
	bool begun;
};

static void
prepare_job(struct load *l, struct measure *m)
{
	l->results = mem_array(m->roles.nworks + 1, sizeof *l->results);
	l->job = make_job(m, &l->target);
	l->job.cost = &l->cost;
	l->job.warmup = l->warmup = roles_warmup(&m->roles, &l->job.nwarmup);
}

/* Takes the results of an engine, which returned rc. Returns 0 or -1. */
static int
take_results(struct load *l, struct measure *m, int rc)
{
	if (rc != 0 && !m->context->halt)
		measure_fail(m, NULL);
	else if (rc == 0 && m->profiles &&
	    profiles_end(
		m->profiles, json_get(m->recs[0], "subject"), m->profiled) < 0)
		measure_fail(m, NULL); /* the load itself succeeded */
	set_figures(m, &l->target, l->results, &l->cost, rc);
	watch_cost_free(&l->cost);
	result_record_copy_facts(m->recs, m->roles.n);
	for (size_t i = 0; i < m->roles.nworks; i++)
		engine_result_free(&l->results[i]);
	free(l->results);
	free(l->warmup);
	return rc == 0 ? 0 : -1;
}

/*
 * Fails if the server does not know a command of the load. A trace may have
 * those of another version, a count leaves them out, and a case may allow
 * more errors.
 */
static int
check_commands(struct measure *m, const struct target *t)
{
	const struct engine_work *w;
	struct client *c;
	char *why = NULL;

	if (m->counted || m->cas->trace ||
	    errorcheck_allows_more(m->cas->record))
		return 0;
	c = target_client(t, 0);
	if (!c)
		return measure_fail(m, NULL);
	for (size_t i = 0; i < m->roles.nown && !why; i++) {
		w = &m->roles.works[m->roles.v[i].first];
		for (size_t k = 0; k < engine_count_commands(w) && !why; k++)
			why = control_explain_unknown(
			    c, control_ms(&t->e, 0), engine_command(w, k));
	}
	client_close(c);
	m->unknown = why != NULL;
	return why ? measure_fail(m, why) : 0;
}

/* Fails if a search would run on an index that finds nothing. */
static int
prepare_server(struct measure *m, const struct target *t)
{
	const char *with = m->cas->populate_with;

	if (m->counted && !with)
		with = counting_find_filler(m->cas);
	if (peers_wait(m->starting.peers, PEERS_BEGUN) < 0)
		return *m->context->stop ? -1 : measure_fail(m, NULL);
	if (!peers_leads(m->starting.peers))
		return 0;
	if (setup_run(t, m->cas->setup_commands, "setup command") < 0)
		return m->context->halt ? -1 : measure_fail(m, NULL);
	if (check_commands(m, t) < 0)
		return -1;
	if (populate_keys(t, with, &m->roles.works[0], &m->context->halt,
		on_progress, m, &m->known) < 0)
		return m->context->halt ? -1 : measure_fail(m, NULL);
	for (size_t i = 0; i < m->roles.nworks; i++)
		m->roles.works[i].known = m->known;
	if (probe_indexes(t, &m->roles, false, &m->context->halt) == 0 &&
	    idle_begin(m, t) == 0)
		return 0;
	return m->context->halt ? -1 : measure_fail(m, NULL);
}

/* The profiles start when the load has warmed up. */
static int
begin_profiles(struct measure *m, const struct json *server)
{
	if (!m->profiled || m->counted)
		return 0;
	m->profiles = profiles_new(m->context->profiles, m->cas, m->build,
	    server, m->context->session);
	return m->profiles ? 0 : measure_fail(m, NULL);
}

/*
 * Sends the teardown commands, after a failure too, unless the server has
 * ended. That of a count ends now.
 */
static int
clean_up(
    struct measure *m, struct server_handle *l, const struct target *t, int rc)
{
	const struct json *list = m->cas->teardown_commands;

	if (!list || m->counted || m->context->halt ||
	    (rc < 0 && handle_is_lost(l, m->cas, true)))
		return rc;
	if (setup_run(t, list, "teardown command") < 0)
		return measure_fail(m, NULL);
	return rc;
}

/* Makes the target of a run on a server. Returns 0 or -1. */
static int
begin_load(struct measure *m, struct server_handle *l, struct target *t)
{
	m->context->halt = 0;
	l->used = true;
	provenance_set_subject(m, l->server);
	return handle_check_files(l) < 0 || handle_target(l, m->cas, t) < 0 ||
		target_check(t) < 0 || replicas_choose(m, t) < 0 ||
		(m->context->external &&
		    extserver_watch(m->context->external, &m->room) < 0)
	    ? measure_fail(m, NULL)
	    : 0;
}

/* Fails if the load has cost others keys or memory. It is not made again. */
static int
end_watch(struct measure *m, int rc)
{
	const char *why = m->room ? room_look(m->room) : NULL;

	if (why) {
		err_say("%s: %s", m->cas->id, why);
		str_clear(&m->error);
		rc = measure_fail(m, mem_str(why));
		m->context->endangered = true;
	}
	m->room = NULL;
	return rc;
}

/* Waits for the other parts of the load, which fail if this one does. */
static int
end_parts(struct measure *m, int rc)
{
	char *why = NULL;
	int k;

	if (rc < 0)
		why = mem_strn(measure_why(m), strcspn(measure_why(m), "\n"));
	k = peers_done(m->starting.peers, why);
	free(why);
	if (k < 0 && !*m->context->stop)
		measure_fail(m, NULL);
	return rc < 0 || k < 0 ? -1 : 0;
}

/*
 * Adds bytes_per_key, if there are 1,000 keys, to the metrics of each part that
 * was counted, and where the case has to count it bytes_per_client to the first
 * of them. Deletes all keys. A figure that the server refuses is reported and
 * absent. Returns 0, or -1 after reporting that the server does not answer.
 */
static int
add_footprint(struct measure *m, const struct target *t)
{
	struct json *keys = json_object(), *metrics, *first = NULL;
	int rc = measure_keys(t, keys);

	for (size_t i = 0; i < m->roles.n && rc == 0; i++) {
		metrics = json_get(m->recs[i], "metrics");
		first = first ? first : metrics;
		for (const struct json *j = json_first(keys); j && metrics;
		     j = json_next(j))
			json_set(metrics, json_key(j), json_dup(j));
	}
	json_free(keys);
	if (rc == 0 && first && m->cas->counts_clients)
		rc = measure_clients(t, first);
	return rc == 0 || m->context->halt ? rc : measure_fail(m, NULL);
}

/* Checks a server after its load, and cleans it up. */
static int
end_load(
    struct measure *m, struct server_handle *l, const struct target *t, int rc)
{
	rc = idle_end(m, rc);
	if (!peers_leads(m->starting.peers))
		return rc;
	if (rc == 0 && probe_indexes(t, &m->roles, true, &m->context->halt) < 0)
		rc = measure_fail(m, NULL);
	if (rc == 0 && m->counted)
		rc = add_footprint(m, t);
	return clean_up(m, l, t, rc);
}

void
measure_run(
    struct measure *m, struct server_handle *const *l, size_t n, int *rcs)
{
	struct load *x = mem_array(n, sizeof *x);
	struct engine_job *jobs = mem_array(n, sizeof *jobs);
	struct engine_result **results = mem_array(n, sizeof *results);
	int *job_rcs = mem_array(n, sizeof *job_rcs);
	size_t njobs = 0, k = 0;

	for (size_t i = 0; i < n; i++) {
		if (rcs[i] < 0)
			continue;
		rcs[i] = begin_load(&m[i], l[i], &x[i].target);
		x[i].begun = rcs[i] == 0;
		m[i].starting.target = &x[i].target;
		if (x[i].begun)
			rcs[i] = prepare_server(&m[i], &x[i].target);
		if (rcs[i] == 0)
			rcs[i] = begin_profiles(&m[i], l[i]->server);
		if (rcs[i] < 0)
			continue;
		if (m[i].counted) {
			rcs[i] = run_count(&m[i], &x[i].target, l[i]->server);
			continue;
		}
		prepare_job(&x[i], &m[i]);
		jobs[njobs] = x[i].job;
		results[njobs++] = x[i].results;
	}
	if (njobs)
		m->engine->run(m->engine->self, jobs, njobs,
		    m->roles.works->seed + m->context->order, results, job_rcs);
	for (size_t i = 0; i < n; i++) {
		if (x[i].results)
			rcs[i] = take_results(&x[i], &m[i], job_rcs[k++]);
		rcs[i] = end_parts(&m[i], end_watch(&m[i], rcs[i]));
		if (x[i].begun)
			rcs[i] = end_load(&m[i], l[i], &x[i].target, rcs[i]);
		target_free(&x[i].target);
	}
	free(job_rcs);
	free(results);
	free(jobs);
	free(x);
}

int
measure_attempt(struct measure *m, struct server_handle *l)
{
	struct target t = {0};
	struct engine_job job = make_job(m, &t);
	int rc = begin_load(m, l, &t);

	if (rc == 0 && m->engine->attempt(m->engine->self, &job) != 0) {
		if (!m->context->halt)
			measure_fail(m, NULL);
		rc = -1;
	}
	target_free(&t);
	return rc;
}
