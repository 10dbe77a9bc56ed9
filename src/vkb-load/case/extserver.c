#include "extserver.h"
#include "client.h"
#include "err.h"
#include "json.h"
#include "keyspace.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "record.h"
#include "redact.h"
#include "room.h"
#include "sysfile.h"
#include "target.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/plan/benchcase.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

/* A setting of a server that vkb-load did not start, before it was changed for
 * a case. */
struct settings_old {
	size_t node;
	char *name, *value;
};

/* What was changed, oldest first. Initialise it with {0}. */
struct settings {
	struct settings_old *v;
	size_t n, cap;
};

static void
free_setting(struct settings_old *o)
{
	free(o->name);
	free(o->value);
}

/* Frees the memory and restores nothing. */
static void
settings_free(struct settings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free_setting(&s->v[i]);
	free(s->v);
	*s = (struct settings){0};
}

/*
 * Returns the value of a setting by CONFIG GET, freed by the caller, or NULL if
 * it cannot be read.
 */
static char *
settings_read(const struct target *t, struct client *c, const char *name)
{
	struct reply *reply =
	    CLIENT_CALL(c, control_ms(&t->e, 0), "CONFIG", "GET", name);
	char *v = NULL;

	if (reply && reply_type(reply) == REPLY_ARRAY && reply_len(reply) == 2)
		v = mem_str(reply_text(reply_at(reply, 1)));
	reply_free(reply);
	return v;
}

/* Parses 100mb, in the units of valkey.conf. Returns -1 if not a number. */
static double
parse_amount(const char *s)
{
	static const struct {
		const char *unit;
		double factor;
	} units[] = {{"", 1}, {"b", 1}, {"k", 1e3}, {"kb", 1024}, {"m", 1e6},
	    {"mb", 1048576}, {"g", 1e9}, {"gb", 1073741824}};
	char *end;
	double v = strtod(s, &end);

	for (size_t i = 0; end != s && i < sizeof units / sizeof *units; i++)
		if (strcasecmp(end, units[i].unit) == 0)
			return v * units[i].factor;
	return -1;
}

static bool
is_same_value(const char *a, const char *b)
{
	return strcasecmp(a, b) == 0 ||
	    (parse_amount(a) >= 0 && parse_amount(a) == parse_amount(b));
}

/* Returns the text of a setting; that of a number is put into 'number'. */
static const char *
get_text(const struct json *setting, char number[32])
{
	if (json_str(setting))
		return json_str(setting);
	snprintf(number, 32, "%.15g", json_num(setting, 0));
	return number;
}

/*
 * Checks that the server has these settings, a JSON object or NULL. Those that
 * are secrets are not compared. Returns 0, or -1 after reporting the first that
 * differs.
 */
static int
settings_check(
    const struct target *t, struct client *c, const struct json *wanted)
{
	char number[32], *has;
	const char *want;
	int rc = 0;

	for (const struct json *m = json_first(wanted); m && rc == 0;
	     m = json_next(m)) {
		if (redact_is_secret(json_key(m)))
			continue;
		want = get_text(m, number);
		has = settings_read(t, c, json_key(m));
		if (!has || !is_same_value(has, want))
			rc = err_fail("the case has %s '%s', the server %s%s%s",
			    json_key(m), want, has ? "'" : "",
			    has ? has : "does not say", has ? "'" : "");
		free(has);
	}
	return rc;
}

static int
change_setting(struct settings *s, const struct target *t, size_t node,
    struct client *c, const char *name, const char *value)
{
	char *old = settings_read(t, c, name), *now;
	struct reply *reply;
	int rc = 0;

	if (!old)
		return err_fail("the server has no setting '%s'", name);
	/* If the answer is lost, the server may have the new value. */
	*MEM_ADD(s->v, s->n, s->cap) = (struct settings_old){
	    .node = node, .name = mem_str(name), .value = old};
	reply =
	    CONTROL_ASK(c, control_ms(&t->e, 0), "CONFIG", "SET", name, value);
	if (!reply) {
		if (!*client_error(c)) /* it was refused */
			free_setting(&s->v[--s->n]);
		return -1;
	}
	reply_free(reply);
	now = settings_read(t, c, name);
	if (!now || !is_same_value(now, value))
		rc = err_fail("setting '%s': '%s' was set, the server has '%s'",
		    name, value, now ? now : "nothing");
	free(now);
	return rc;
}

/*
 * Changes these settings of a node, a JSON object or NULL, and keeps the old
 * values. Returns 0, or -1 after reporting an error; what was changed before
 * it is kept.
 */
static int
settings_change(struct settings *s, const struct target *t, size_t node,
    struct client *c, const struct json *wanted)
{
	char number[32];
	int rc = 0;

	for (const struct json *m = json_first(wanted); m && rc == 0;
	     m = json_next(m))
		rc = change_setting(
		    s, t, node, c, json_key(m), get_text(m, number));
	return rc;
}

static int
restore_setting(const struct settings_old *o, const struct target *t)
{
	struct client *c = target_client(t, o->node);
	struct reply *reply = c ? CONTROL_ASK(c, control_ms(&t->e, 0), "CONFIG",
				      "SET", o->name, o->value)
				: NULL;
	int rc = reply ? 0
		       : err_fail("cannot restore setting '%s' to '%s'",
			     o->name, o->value);

	reply_free(reply);
	client_close(c);
	return rc;
}

/*
 * Restores what was changed, the latest first. Returns 0, or -1 after reporting
 * each setting that could not be restored. Then forgets the changes.
 */
static int
settings_restore(struct settings *s, const struct target *t)
{
	int rc = 0;

	for (size_t i = s->n; i-- > 0;)
		if (restore_setting(&s->v[i], t) < 0)
			rc = -1;
	settings_free(s);
	return rc;
}

#define REPLICAS_MOST 1000 /* of a single server that are looked at */
#define REPLICA_MS 2000    /* until one has to answer */

struct extserver {
	struct json *record;
	const struct json *config; /* of the case; borrowed */
	struct target t;
	const char *user;    /* borrowed, or NULL */
	const char *product; /* "valkey", or "redis" for all others */
	bool local;
	bool flush;        /* all data may be deleted */
	bool joins;        /* others change it */
	char *prefix;      /* of our keys; NULL: the server may be emptied */
	bool used;         /* it was empty and may hold our keys now */
	double bytes;      /* that the case needs */
	struct room *room; /* if there is a prefix */
	char *ids;         /* run_id of each primary when it was seen empty */
	struct settings changed;
};

/*
 * Returns the pid of a server on this host, or 0. The server may be elsewhere,
 * or in a container with other pids, so the program's name must match.
 */
static int
find_local_pid(const struct reply *info)
{
	char *pid = reply_info(info, "process_id");
	char *exe = reply_info(info, "executable"), *name = NULL;
	const char *slash = exe ? strrchr(exe, '/') : NULL;
	char path[64];
	long long v = 0;

	if (slash && pid && num_int(pid, &v) == 0 && v > 0) {
		snprintf(path, sizeof path, "/proc/%lld/comm", v);
		name = sysfile_line("", path);
	}
	/* the kernel keeps 15 characters */
	if (!name || strncmp(slash + 1, name, 15) != 0)
		v = 0;
	free(name);
	free(pid);
	free(exe);
	return (int)v;
}

/* Adds a node, if it is not there. The role is NULL for primaries. */
static void
add_node(struct json *nodes, const char *host, int port, const char *role)
{
	struct json *n;

	for (n = json_first(nodes); n; n = json_next(n))
		if (json_get_num(n, "port", 0) == port &&
		    strcmp(json_get_str(n, "host"), host) == 0)
			return;
	n = json_object();
	json_set_str(n, "host", host);
	json_set_num(n, "port", port);
	json_set_str(n, "role", role);
	json_push(nodes, n);
}

/* Adds each primary once. Returns 0, or -1 after reporting an error. */
static int
list_primaries(struct extserver *r, struct client *c, struct json *nodes)
{
	struct control_slots s;
	const char *wrong =
	    control_slots(&s, c, control_ms(&r->t.e, 0), r->t.nodes[0].host);

	for (size_t i = 0; i < s.n && !wrong; i++)
		add_node(nodes, s.v[i].host, s.v[i].port, NULL);
	if (wrong)
		err_say("CLUSTER SLOTS: %s", wrong);
	control_slots_free(&s);
	return wrong ? -1 : 0;
}

/* Adds the replicas of a primary: CLUSTER SLOTS may not know them yet. */
static void
list_replicas(const struct reply *info, struct json *nodes)
{
	char name[32], host[256], *text;
	int port;

	for (int i = 0; i < REPLICAS_MOST; i++) {
		snprintf(name, sizeof name, "slave%d", i);
		text = reply_info(info, name);
		if (!text)
			break;
		if (sscanf(text, "ip=%255[^,],port=%d", host, &port) == 2)
			add_node(nodes, host, port, "replica");
		free(text);
	}
}

static struct json *
make_server_record(const struct address *o)
{
	struct json *rec = record_new("server"), *nodes = json_array(), *n, *t;

	json_set_str(rec, "id", "running");
	json_set_str(rec, "status", "ok");
	n = json_object();
	json_set_str(n, "host", o->host);
	json_set_num(n, "port", (double)o->port);
	json_set_str(n, "unixsocket", o->unixsocket);
	json_push(nodes, n);
	json_set(rec, "nodes", nodes);
	if (o->tls) {
		t = json_object();
		json_set_str(t, "cacert", o->cacert);
		json_set_str(t, "cert", o->cert);
		json_set_str(t, "key", o->key);
		json_set_str(t, "servername", o->host);
		if (o->insecure)
			json_set_bool(t, "insecure", true);
		json_set(rec, "tls", t);
	}
	return rec;
}

static int
identify_server(struct extserver *r, struct client *c)
{
	struct json *first = json_first(json_get(r->record, "nodes")), *nodes;
	struct reply *info = CONTROL_ASK(c, control_ms(&r->t.e, 0), "INFO");
	char *version, *cluster;
	int pid, rc = 0;

	if (!info)
		return -1;
	version = reply_info(info, "valkey_version");
	r->product = version ? "valkey" : "redis";
	if (!version)
		version = reply_info(info, "redis_version");
	cluster = reply_info(info, "cluster_enabled");
	json_set_str(r->record, "version", version);
	pid = find_local_pid(info);
	r->local = pid > 0;
	if (cluster && strcmp(cluster, "1") == 0) {
		json_set_bool(r->record, "cluster", true);
		nodes = json_array();
		rc = list_primaries(r, c, nodes);
		json_set(r->record, "nodes", nodes);
	} else {
		if (pid)
			json_set_num(first, "pid", pid);
		list_replicas(info, json_get(r->record, "nodes"));
	}
	free(version);
	free(cluster);
	reply_free(info);
	return rc;
}

/* Asks a primary of a cluster for its pid and its replicas. */
static int
ask_primary(const struct target *t, size_t i, struct client *c, void *arg)
{
	struct extserver *r = arg;
	struct reply *info = CONTROL_ASK(c, control_ms(&r->t.e, 0), "INFO");
	int pid = info ? find_local_pid(info) : 0;

	if (pid) {
		json_set_num(
		    json_at(json_get(r->record, "nodes"), i), "pid", pid);
		t->nodes[i].pid = pid;
	}
	if (info)
		list_replicas(info, json_get(r->record, "nodes"));
	reply_free(info);
	return info ? 0 : -1;
}

/* Asks the replicas for their pids, until one does not answer: the pids of some
 * are of no use. */
static void
set_replica_pids(struct extserver *r)
{
	struct target t = r->t;
	size_t i = t.e.nnodes, end = i + t.nreplicas;
	char why[CLIENT_WHY];
	struct client *c;
	struct reply *info;
	bool answered = true;
	int pid;

	target_use_replicas(&t);
	for (; i < end && answered; i++) {
		c = control_open(&t.e, i, control_ms(&t.e, REPLICA_MS), why);
		info = c ? CLIENT_CALL(c, control_ms(&t.e, REPLICA_MS), "INFO")
			 : NULL;
		answered = info && reply_type(info) == REPLY_TEXT;
		pid = answered ? find_local_pid(info) : 0;
		if (pid)
			json_set_num(json_at(json_get(r->record, "nodes"), i),
			    "pid", pid);
		reply_free(info);
		client_close(c);
	}
}

void
extserver_login(const struct extserver *r, struct target *t)
{
	t->e.user = r->user;
	t->e.password = opt_password();
	t->e.prefix = r->prefix;
}

/* Makes the target of the nodes that the record has now. */
static int
make_server_target(struct extserver *r, bool unixsocket, double timeout_s)
{
	target_free(&r->t);
	if (target_make(&r->t, r->record, unixsocket, NULL) < 0)
		return -1;
	extserver_login(r, &r->t);
	r->t.e.timeout_s = timeout_s;
	return 0;
}

static int
refuse_to_empty(const struct extserver *r, const char *holds)
{
	const struct engine_node *n = &r->t.nodes[0];
	char *where = address_format(n->host, n->port, n->unixsocket);

	err_fail("the %s at %s holds %s, and measuring would delete all of it: "
		 "--flush allows that, --no-flush leaves it and measures "
		 "beside it",
	    r->t.e.cluster ? "cluster" : "server", where, holds);
	free(where);
	return -1;
}

/* Fails if the server holds data that may not be deleted. */
static int
check_empty(struct extserver *r)
{
	char *holds;
	int rc;

	if (r->flush || r->prefix || r->joins)
		return 0;
	free(r->ids);
	if (keyspace_read(&r->t, &holds, &r->ids) < 0)
		return -1;
	rc = holds ? refuse_to_empty(r, holds) : 0;
	free(holds);
	return rc;
}

const struct target *
extserver_target(const struct extserver *r)
{
	return &r->t;
}

const char *
extserver_prefix(const struct extserver *r)
{
	return r->prefix;
}

void
extserver_share_prefix(struct extserver *r, const char *prefix)
{
	char *own = prefix ? mem_str(prefix) : NULL;

	free(r->prefix);
	r->prefix = own;
	r->t.e.prefix = own;
}

/* Random, so that sessions do not remove each other's keys. */
static char *
make_prefix(void)
{
	unsigned long long x;

	if (getrandom(&x, sizeof x, 0) != sizeof x)
		err_die("cannot get random numbers");
	return mem_printf("vkb:%012llx:", x & 0xffffffffffffULL);
}

struct extserver *
extserver_open(const struct extserver_opts *o)
{
	struct extserver *r = mem_new(sizeof *r);
	struct client *c = NULL;
	bool cluster;
	int rc = -1;

	r->record = make_server_record(&o->at);
	r->user = o->at.user;
	r->flush = o->flush;
	r->joins = o->joins;
	r->prefix = o->no_flush ? make_prefix() : NULL;
	if (make_server_target(r, o->at.unixsocket, o->timeout_s) < 0)
		goto out;
	c = target_client(&r->t, 0);
	if (!c || identify_server(r, c) < 0)
		goto out;
	cluster = json_get_bool(r->record, "cluster", false);
	if (cluster &&
	    (make_server_target(r, false, o->timeout_s) < 0 ||
		target_each(&r->t, ask_primary, r) < 0))
		goto out;
	if (json_len(json_get(r->record, "nodes")) > r->t.e.nnodes) {
		if (make_server_target(
			r, !cluster && o->at.unixsocket, o->timeout_s) < 0)
			goto out;
		set_replica_pids(r);
	}
	rc = r->prefix && !r->joins ? keyspace_check_removal(&r->t)
				    : check_empty(r);
out:
	client_close(c);
	if (rc == 0)
		return r;
	extserver_close(r);
	return NULL;
}

void
extserver_close(struct extserver *r)
{
	if (!r)
		return;
	room_close(r->room);
	target_free(&r->t);
	json_free(r->record);
	free(r->prefix);
	free(r->ids);
	settings_free(&r->changed);
	free(r);
}

const struct json *
extserver_record(const struct extserver *r)
{
	return r->record;
}

bool
extserver_local(const struct extserver *r)
{
	return r->local;
}

int
extserver_io_threads(const struct extserver *r)
{
	struct client *c = target_client(&r->t, 0);
	char *has = c ? settings_read(&r->t, c, "io-threads") : NULL;
	int n = has ? atoi(has) : 0;

	free(has);
	client_close(c);
	return n;
}

/* Checks that the server is of the kind that the record would say. */
static int
check_topology(const struct extserver *r, struct client *c)
{
	const struct json *config = r->config;
	bool cluster = json_get_bool(config, "cluster_mode", false);
	bool tls = json_get_bool(config, "tls_mode", false);
	double want = json_get_num(config, "io_threads", 0);
	double nodes = json_get_num(config, "cluster_nodes", 0);
	char *has = settings_read(&r->t, c, "io-threads");
	int rc = 0;

	if (cluster != r->t.e.cluster)
		rc = err_fail("the case needs %s, the server is %s",
		    cluster ? "a cluster" : "a single server",
		    cluster ? "not one" : "a cluster");
	else if (cluster && nodes > 0 && nodes != (double)r->t.e.nnodes)
		rc = err_fail("the case needs %g primar%s, the cluster has "
			      "%zu: write \"cluster_nodes\": %zu",
		    nodes, nodes == 1 ? "y" : "ies", r->t.e.nnodes,
		    r->t.e.nnodes);
	else if (tls != (r->t.e.tls != NULL))
		rc = err_fail("the case needs %s, the connection is %s",
		    tls ? "TLS" : "no TLS", tls ? "plain" : "TLS");
	else if (json_get_bool(config, "unixsocket", false) &&
	    !r->t.nodes[0].unixsocket)
		rc = err_fail("the case needs a unix socket");
	else if (has && want > 0 && atof(has) != want)
		rc = err_fail("the case needs io-threads %g, the server has "
			      "%s: write \"io-threads\": %s",
		    want, has, has);
	free(has);
	return rc;
}

/* Checks that a node matches the case; changes nothing. */
static int
check_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	const struct extserver *r = arg;

	if (i == 0 && check_topology(r, c) < 0)
		return -1;
	return settings_check(t, c, json_get(r->config, "server_config"));
}

static int
apply_to_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	struct extserver *r = arg;

	return settings_change(
	    &r->changed, t, i, c, json_get(r->config, "config_set"));
}

/*
 * Empties the server. If it was restarted or replaced since it was seen empty,
 * its data was loaded from files and is left alone.
 */
static int
empty_server(struct extserver *r)
{
	char *ids, *holds;
	bool same;
	int rc;

	if (r->flush)
		return keyspace_empty(&r->t);
	if (keyspace_read(&r->t, &holds, &ids) < 0)
		return -1;
	same = strcmp(ids, r->ids) == 0;
	if (!same)
		err_say("the server was restarted since it was seen empty, so "
			"it is not emptied");
	if (same)
		rc = keyspace_empty(&r->t);
	else if ((rc = holds ? refuse_to_empty(r, holds) : 0) < 0)
		r->used = false;
	free(ids);
	free(holds);
	return rc;
}

static int
remove_keys(struct extserver *r)
{
	int rc = r->prefix ? keyspace_remove_own(&r->t) : empty_server(r);

	if (rc == 0)
		r->used = false;
	return rc;
}

/* Returns what is done to the server. Caller frees. */
static char *
describe_changes(
    const struct extserver *r, const char *holds, double bytes, double elements)
{
	char size[NUM_BUF], count[128];

	if (r->joins)
		return mem_str("part 1 of the load prepares it, and removes "
			       "what is written");
	if (!r->prefix)
		return holds
		    ? mem_printf("deletes all that it holds, %s, before "
				 "and after each run",
			  holds)
		    : mem_str("it is empty, and is emptied again after "
			      "each run");
	num_human(size, bytes);
	if (isinf(elements))
		snprintf(count, sizeof count,
		    "keys and elements for as long as a run lasts (%sB and "
		    "more)",
		    size);
	else
		snprintf(count, sizeof count,
		    "up to %.0f keys and elements (%sB)", elements, size);
	return mem_printf("writes %s below '%s'%s%s, and removes them after "
			  "each run",
	    count, r->prefix, holds ? " beside " : "", holds ? holds : "");
}

/* Says which server is measured and what is done to it: always, for it belongs
 * to others. */
static int
announce_server(const struct extserver *r, double bytes, double elements)
{
	const struct engine_node *n = &r->t.nodes[0];
	const char *version = json_get_str(r->record, "version");
	char *where, *changes, *holds = NULL, *ids = NULL;

	if ((r->prefix || r->flush) && !r->joins &&
	    keyspace_read(&r->t, &holds, &ids) < 0)
		return -1;
	where = address_format(n->host, n->port, n->unixsocket);
	changes = describe_changes(r, holds, bytes, elements);
	err_say("measures the %s running at %s, %s %s: %s",
	    r->t.e.cluster ? "cluster" : "server", where, r->product,
	    version ? version : "of an unknown version", changes);
	free(where);
	free(changes);
	free(holds);
	free(ids);
	return 0;
}

int
extserver_admit(struct extserver *r, const struct bench_case *cases, size_t n)
{
	double bytes = 0, elements = 0, some_bytes, some_elements;
	struct room *room = room_open(&r->t, r->local, r->prefix != NULL);
	int rc = room ? 0 : -1;

	for (size_t i = 0; i < n && !r->joins && rc == 0; i++) {
		rc = room_check(room, &cases[i], &some_bytes, &some_elements);
		bytes = fmax(bytes, some_bytes);
		elements = fmax(elements, some_elements);
	}
	if (r->prefix)
		r->room = room;
	else
		room_close(room);
	return rc < 0 ? -1 : n ? announce_server(r, bytes, elements) : 0;
}

int
extserver_watch(const struct extserver *r, struct room **room)
{
	*room = r->room;
	return r->room ? room_begin(r->room, r->bytes) : 0;
}

/* Data that appeared since the last run is not ours and is not deleted. */
int
extserver_prepare(
    struct extserver *r, const struct bench_case *cas, double timeout_s)
{
	const struct json *config = cas->config;
	double elements;

	r->config = config;
	r->t.e.timeout_s = timeout_s;
	r->t.e.db = (int)json_get_num(config, "db", 0);
	if (target_each(&r->t, check_node, r) < 0)
		return -1;
	r->bytes = INFINITY; /* part 1 knows how much is written */
	if (r->joins)
		return 0;
	if (!r->used && check_empty(r) < 0)
		return -1;
	if ((r->used || !r->prefix) && remove_keys(r) < 0)
		return -1;
	if (r->room && room_check(r->room, cas, &r->bytes, &elements) < 0)
		return -1;
	r->used = true;
	return json_get(config, "config_set")
	    ? target_each(&r->t, apply_to_node, r)
	    : 0;
}

int
extserver_restore(struct extserver *r)
{
	int rc = r->used ? remove_keys(r) : 0;

	return settings_restore(&r->changed, &r->t) < 0 ? -1 : rc;
}
