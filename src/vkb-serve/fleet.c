#include "fleet.h"
#include "client.h"
#include "clock.h"
#include "cluster.h"
#include "config.h"
#include "cpulist.h"
#include "err.h"
#include "folder.h"
#include "halt.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "node.h"
#include "port.h"
#include "record.h"
#include "redact.h"
#include "runas.h"
#include "rundir.h"
#include "spec.h"
#include "str.h"
#include "tls.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_TIMES 20 /* the time to start, while it uses CPU time */

struct fleet {
	struct shared *shared; /* with its cache of hashes of files */
	struct spec spec;
	char *dir, *tlsdir;
	struct node *node;
	size_t n;
	int64_t deadline, nap_ns;
	int64_t cpu_ns;  /* that a counted server had used at the last look */
	int64_t started; /* clock_ns() of the first try */
	bool late;       /* it was not ready in time */
	int tries;
};

enum { CALL_MS = 5000, PORT_TRIES = 20 };

/* The hash of a file, valid until the file changes. */
struct filehash {
	struct stat st;
	char hex[HASH_HEX];
};

/* Returns the SHA-256 of the file as hex, borrowed until the next call, or NULL
 * if it cannot be read. */
static const char *
get_file_hash(struct shared *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *hex = NULL;
	struct filehash k;
	size_t i = 0;

	if (fd < 0 || fstat(fd, &k.st) < 0)
		goto out;
	while (i < s->nhashes && !hash_is_same_file(&s->hashes[i].st, &k.st))
		i++;
	if (i == s->nhashes) {
		if (hash_fd(HASH_SHA256, fd, k.hex) < 0)
			goto out;
		*MEM_ADD(s->hashes, s->nhashes, s->hashcap) = k;
	}
	hex = s->hashes[i].hex;
out:
	if (fd >= 0)
		close(fd);
	return hex;
}

static struct json *
describe_file(const struct fleet *f, const char *name, const char *path)
{
	struct json *j = json_object();

	json_set_str(j, "path", name);
	json_set_str(j, "sha256", get_file_hash(f->shared, path));
	return j;
}

/* The program that runs, and the script that started it, if it is another file:
 * its options may make another server of the same program. */
static struct json *
describe_binary(const struct fleet *f)
{
	struct json *j;
	char path[64];
	const char *sha, *own;

	if (f->spec.count) /* the process is that of valgrind */
		return describe_file(f, f->spec.server, f->spec.server);
	snprintf(path, sizeof path, "/proc/%ld/exe", f->node[0].pid);
	j = describe_file(f, f->spec.server, path);
	sha = get_file_hash(f->shared, f->spec.server);
	own = json_get_str(j, "sha256");
	if (sha && own && strcmp(sha, own) != 0)
		json_set_str(j, "script_sha256", sha);
	return j;
}

static struct json *
describe_modules(const struct fleet *f)
{
	const struct json *m = json_first(json_get(f->spec.json, "modules"));
	struct json *list = json_array();
	const char *path;

	for (; m; m = json_next(m)) {
		path = json_get_str(m, "path");
		json_push(list, describe_file(f, path, path));
	}
	return list;
}

/* Sets the key to the field of INFO if the server has it. */
static void
set_from_info(struct json *rec, const char *key, const struct reply *info,
    const char *field)
{
	char *s = reply_info(info, field);

	json_set_str(rec, key, s);
	free(s);
}

static struct json *
describe_nodes(const struct fleet *f)
{
	struct json *list = json_array(), *j;
	const struct node *n;
	char *cpus;

	for (size_t i = 0; i < f->n; i++) {
		n = &f->node[i];
		j = json_object();
		json_set_str(j, "host", spec_connect_host(&f->spec));
		json_set_num(j, "port", n->port);
		json_set_num(j, "pid", (double)n->pid);
		set_from_info(j, "run_id", n->info, "run_id");
		json_set_str(j, "role",
		    i < (size_t)f->spec.primaries ? "primary" : "replica");
		json_set_str(j, "log", n->log);
		json_set_str(j, "unixsocket", n->socket);
		if (f->spec.cpus) {
			cpus = cpulist_text(&f->spec.cpus[i]);
			json_set_str(j, "cpus", cpus);
			free(cpus);
		}
		json_push(list, j);
	}
	return list;
}

static struct json *
describe_tls(const struct fleet *f)
{
	static const char *const names[][2] = {{"cacert", "ca.crt"},
	    {"cert", "client.crt"}, {"key", "client.key"}};
	struct json *j = json_object();
	char *path;

	for (size_t i = 0; i < 3; i++) {
		path = mem_printf("%s/%s", f->tlsdir, names[i][1]);
		json_set_str(j, names[i][0], path);
		free(path);
	}
	json_set_str(j, "servername", "localhost");
	return j;
}

/* Adds a setting as the server reports it, unless it is a secret. */
static int
add_effective_setting(
    const struct fleet *f, struct json *out, const char *name, struct str *why)
{
	int ms = node_call_ms(&f->node[0], CALL_MS);
	struct client *c = f->node[0].client;
	const char *value;
	struct reply *r;

	if (redact_is_secret(name) || json_get(out, name))
		return 0;
	r = CLIENT_CALL(c, ms, "CONFIG", "GET", name);
	if (!r)
		return str_fail(
		    why, "CONFIG GET %s: %s", name, client_error(c));
	value = reply_len(r) == 2 ? reply_text(reply_at(r, 1)) : NULL;
	if (value && str_utf8(value, strlen(value)))
		json_set_str(out, name, value);
	reply_free(r);
	return 0;
}

static struct json *
describe_config(const struct fleet *f, struct str *why)
{
	static const char *const always[] = {
	    "io-threads", "maxmemory-policy", "appendonly", "save"};
	static const char *const sections[] = {"config", "config_set"};
	struct json *out = json_object();
	const char *threads;

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		if (add_effective_setting(f, out, always[i], why) < 0)
			goto bad;
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		for (const struct json *j =
			 json_first(json_get(f->spec.json, sections[i]));
		     j; j = json_next(j))
			if (add_effective_setting(f, out, json_key(j), why) < 0)
				goto bad;
	threads = json_get_str(out, "io-threads");
	if (f->spec.io_threads && threads &&
	    atoi(threads) != f->spec.io_threads) {
		str_printf(why, "io-threads is %s, but %d was requested",
		    threads, f->spec.io_threads);
		goto bad;
	}
	return out;
bad:
	json_free(out);
	return NULL;
}

static struct json *
describe_count(const struct fleet *f)
{
	struct json *j = json_object();

	json_set_str(j, "control", f->node[0].control);
	json_set_str(j, "dumps", f->node[0].dumps);
	return j;
}

/* Returns the record of nodes that are ready and connected (caller frees with
 * json_free), or NULL with the reason in *why. */
static struct json *
describe_server(const struct fleet *f, double ready_ms, struct str *why)
{
	struct json *rec = record_new("server"), *settings;
	const struct reply *info = f->node[0].info;
	const char *sha;

	json_set_str(rec, "id", f->spec.id);
	json_set_str(rec, "status", "ok");
	json_set(rec, "binary", describe_binary(f));
	if (json_len(json_get(f->spec.json, "modules")))
		json_set(rec, "modules", describe_modules(f));
	set_from_info(rec, "version", info, "redis_version");
	set_from_info(rec, "version", info, "valkey_version");
	set_from_info(rec, "git_sha", info, "redis_git_sha1");
	sha = json_get_str(rec, "git_sha");
	if (sha && !sha[strspn(sha, "0")])
		json_del(rec, "git_sha");
	set_from_info(rec, "build_id", info, "redis_build_id");
	json_set_bool(rec, "cluster", f->spec.cluster);
	json_set(rec, "nodes", describe_nodes(f));
	if (f->spec.tls)
		json_set(rec, "tls", describe_tls(f));
	if (f->spec.count)
		json_set(rec, "count", describe_count(f));
	json_set_num(rec, "ready_ms", ready_ms);
	settings = describe_config(f, why);
	if (!settings) {
		json_free(rec);
		return NULL;
	}
	json_set(rec, "config", settings);
	json_set_str(rec, "dir", f->dir);
	return rec;
}

/* Reports the first line of 'why', and the others, the log, below it. */
static void
report_failure(const char *id, const char *why)
{
	char *text = mem_str(why), *rest = text, *line = strsep(&rest, "\n");

	err_say("server '%s': %s", id, line);
	while ((line = strsep(&rest, "\n")))
		err_say("  %s", line);
	free(text);
}

static struct json *
make_record(const char *id, const char *status)
{
	struct json *rec = record_new("server");

	json_set_str(rec, "id", id);
	json_set_str(rec, "status", status);
	return rec;
}

struct json *
fleet_make_failed(const char *id, const char *error)
{
	struct json *rec = make_record(id, "failed");

	report_failure(id, error);
	json_set_str(rec, "error", error);
	return rec;
}

struct json *
fleet_make_stopped(const char *id)
{
	return make_record(id, "stopped");
}

static int
prepare_tls(struct fleet *f, struct str *why)
{
	struct shared *s = f->shared;
	char *ca, *crt, *key;

	f->tlsdir = mem_printf("%s/tls", s->rundir->path);
	if (rundir_make_certificates(s->rundir, spec_connect_host(&f->spec)) <
	    0)
		return str_fail(why, "cannot make certificates");
	if (s->tls)
		return 0;
	ca = mem_printf("%s/ca.crt", f->tlsdir);
	crt = mem_printf("%s/client.crt", f->tlsdir);
	key = mem_printf("%s/client.key", f->tlsdir);
	s->tls = tls_context_new(
	    &(struct tls_options){.cacert = ca, .cert = crt, .key = key});
	free(ca);
	free(crt);
	free(key);
	return s->tls ? 0 : str_fail(why, "cannot use the certificates");
}

/* Makes "DIR/ID-1.log", with unsafe characters of the id replaced by '_'; or a
 * name beside the folder of the node, in which the server may write. */
static char *
make_log_path(const struct fleet *f, size_t i)
{
	char *name, *p;

	if (!f->shared->logs)
		return mem_printf("%s.log", f->node[i].dir);
	name = mem_printf("%s/%s-%zu.log", f->shared->logs, f->spec.id, i + 1);
	for (p = name + strlen(f->shared->logs) + 1; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '_';
	return name;
}

/*
 * Makes "DIR/n1". Of a counted server the path has always one length: the
 * server has copies of it, and so takes the same memory each time.
 */
static char *
make_node_path(const struct fleet *f, size_t i)
{
	const char *last = strrchr(f->dir, '/');
	int pad = f->spec.count ? 12 - (int)strlen(last) : 1;

	return mem_printf("%s/n%0*zu", f->dir, pad > 1 ? pad : 1, i + 1);
}

static int
make_node_folders(struct fleet *f, struct str *why)
{
	struct node *n;

	f->dir = rundir_make_folder(f->shared->rundir);
	if (!f->dir)
		return str_fail(why, "cannot make the folder of the server");
	for (size_t i = 0; i < f->n; i++) {
		n = &f->node[i];
		n->spec = &f->spec;
		n->index = i;
		n->tlsdir = f->spec.tls ? f->tlsdir : NULL;
		n->tls = f->spec.tls ? f->shared->tls : NULL;
		n->dir = make_node_path(f, i);
		n->log = make_log_path(f, i);
		if (mkdir(n->dir, 0700) < 0)
			return str_fail(why, "cannot make folder '%s': %s",
			    n->dir, strerror(errno));
		if (runas_give(n->dir) < 0)
			return str_fail(why, "%s", err_last());
		if (f->spec.count) {
			n->control = mem_printf("%s/ctl", n->dir);
			n->dumps = mem_printf("%s/counts", n->dir);
		}
		if (!f->spec.unixsocket)
			continue;
		n->socket = mem_printf("%s/sock", n->dir);
		if (strlen(n->socket) > 106)
			return str_fail(why,
			    "the path of the unix socket is too long: '%s'",
			    n->socket);
	}
	return 0;
}

static int
check_fixed_port(const struct fleet *f, size_t i, struct str *why)
{
	int port = f->spec.port + (int)i, taken = port;

	if (port_is_free(f->spec.host, port)) {
		taken = port + 10000;
		if (!f->spec.cluster || port_is_free(f->spec.host, taken))
			return port;
	}
	if (errno != EADDRINUSE)
		return str_fail(why, "cannot use port %d of '%s': %s", taken,
		    f->spec.host, strerror(errno));
	str_printf(why, "port %d is taken by ", taken);
	port_describe_owner(why, spec_connect_host(&f->spec), taken);
	return -1;
}

static int
choose_port(const struct fleet *f, size_t i, struct str *why)
{
	int port;

	if (f->spec.port)
		return check_fixed_port(f, i, why);
	port = port_choose(f->spec.host, f->spec.cluster);
	return port > 0 ? port
			: str_fail(why, "no free port on '%s': %s",
			      f->spec.host, strerror(errno));
}

static int
start_node(struct fleet *f, size_t i, struct str *why)
{
	int port = choose_port(f, i, why);

	if (port < 0)
		return -1;
	/* Earlier nodes may not have bound their ports yet. */
	for (size_t k = 0; k < i && !f->spec.port; k++)
		if (f->node[k].port == port)
			return start_node(f, i, why);
	if (f->spec.cluster &&
	    cluster_write_seed(&f->spec, i, f->node[i].dir, why) < 0)
		return -1;
	return node_start(&f->node[i], port, why);
}

/*
 * Has the server had its time to become ready? A counted one waits for nothing:
 * while it uses CPU time it starts, however little of that a busy machine gives
 * it. So it has as much CPU time, and as long without any; one that answers and
 * is never ready uses a little for each answer, so there is an end to it.
 */
static bool
is_late(struct fleet *f)
{
	int64_t most = f->shared->wait_ms * INT64_C(1000000), cpu = 0;

	for (size_t i = 0; i < f->n && f->spec.count; i++)
		cpu += node_cpu_ns(&f->node[i]);
	if (cpu > f->cpu_ns)
		f->deadline = clock_ns() + most;
	f->cpu_ns = cpu;
	return clock_ns() > f->deadline || cpu > most ||
	    clock_ns() - f->started > BUSY_TIMES * most;
}

/* Waits until a node ends, a signal, or the end of the nap, which gets longer.
 * Returns 0, or -1 with the reason in *why to give up. */
static int
wait_for_event(void *arg, struct str *why)
{
	struct fleet *f = arg;
	struct pollfd *fd = mem_array(f->n + 1, sizeof *fd);
	struct timespec t = {.tv_nsec = f->nap_ns};

	fleet_fill_fds(f, fd);
	fd[f->n] =
	    (struct pollfd){.fd = halt_fd(f->shared->halt), .events = POLLIN};
	ppoll(fd, f->n + 1, &t, NULL);
	if (f->nap_ns < 4000000)
		f->nap_ns += f->nap_ns / 2;
	str_clear(why);
	if (fd[f->n].revents)
		str_add(why, "interrupted");
	for (size_t i = 0; i < f->n && !why->len; i++)
		if (fd[i].revents && f->node[i].ready)
			node_append_end(&f->node[i], why);
	f->late = !why->len && is_late(f);
	if (f->late)
		str_printf(why, "not ready after %d ms%s", f->shared->wait_ms,
		    f->spec.count ? " of CPU time, as long without any, "
				    "or 20 times as long"
				  : "");
	free(fd);
	return why->len ? -1 : 0;
}

/* Starts node i on another free port if its port was taken meanwhile. Returns
 * -1 if that was not the reason of its end. */
static int
retry_other_port(struct fleet *f, size_t i, struct str *why)
{
	struct node *n = &f->node[i];

	if (f->spec.port || !node_has_ended(n) || !node_port_taken(n) ||
	    ++f->tries > PORT_TRIES)
		return -1;
	node_stop_all(n, 1, 0, NULL);
	str_clear(why);
	return start_node(f, i, why);
}

static int
wait_until_ready(struct fleet *f, struct str *why)
{
	size_t ready;
	int rc;

	for (;;) {
		ready = 0;
		for (size_t i = 0; i < f->n; i++) {
			rc = node_poll(&f->node[i], why);
			if (rc < 0 && retry_other_port(f, i, why) < 0)
				return -1;
			ready += rc == 1;
		}
		if (ready == f->n)
			return 0;
		if (wait_for_event(f, why) < 0)
			break;
	}
	for (size_t i = 0; i < f->n; i++)
		if (!f->node[i].ready && f->late) {
			str_add(why, ": ");
			node_append_end(&f->node[i], why);
			break;
		}
	return -1;
}

static int
apply_config_set(struct fleet *f, struct node *n, struct str *why)
{
	const struct json *j = json_first(json_get(f->spec.json, "config_set"));
	struct reply *r;
	char *value, *what;
	bool ok = true;

	for (; ok && j; j = json_next(j)) {
		value = spec_print_value(j);
		r = CLIENT_CALL(n->client, node_call_ms(n, CALL_MS), "CONFIG",
		    "SET", json_key(j), value);
		ok = r && reply_is(r, "OK");
		if (!ok) {
			what = mem_printf(
			    "config_set '%s' to '%s'", json_key(j), value);
			node_append_refusal(n, what, r, why);
			free(what);
		}
		free(value);
		reply_free(r);
	}
	return ok ? 0 : -1;
}

/* --- start and stop ----------------------------------------------------- */

/* Replaces *why by the end of a node and its log if one has ended, because a
 * lost connection does not tell the reason. Returns -1. */
static int
explain_dead_node(struct fleet *f, struct str *why)
{
	struct pollfd *fd = mem_array(f->n, sizeof *fd);
	size_t i = 0;

	fleet_fill_fds(f, fd);
	poll(fd, (nfds_t)f->n, 100);
	while (i < f->n && !node_has_ended(&f->node[i]))
		i++;
	if (i < f->n) {
		str_clear(why);
		node_append_end(&f->node[i], why);
	}
	free(fd);
	return -1;
}

/* *record gets the 'server' record. */
static int
start_nodes(struct fleet *f, struct json **record, struct str *why)
{
	int64_t started;
	double ready_ms;

	if (f->spec.tls && prepare_tls(f, why) < 0)
		return -1;
	if (make_node_folders(f, why) < 0)
		return -1;
	f->started = clock_ns();
	f->deadline = f->started + f->shared->wait_ms * INT64_C(1000000);
	f->nap_ns = 200000;
	for (size_t i = 0; i < f->n; i++)
		if (start_node(f, i, why) < 0)
			return -1;
	if (wait_until_ready(f, why) < 0)
		return -1;
	if (f->spec.cluster &&
	    cluster_form(&f->spec, f->node, f->n, wait_for_event, f, why) < 0)
		return -1;
	started = f->node[0].started;
	ready_ms = (double)((clock_ns() - started) / 1000) / 1000;
	for (size_t i = 0; i < f->n; i++)
		if (apply_config_set(f, &f->node[i], why) < 0)
			return explain_dead_node(f, why);
	*record = describe_server(f, ready_ms, why);
	if (!*record)
		return explain_dead_node(f, why);
	for (size_t i = 0; i < f->n; i++)
		node_disconnect(&f->node[i]);
	return 0;
}

static void
free_fleet(struct fleet *f)
{
	for (size_t i = 0; i < f->n; i++)
		node_free(&f->node[i]);
	free(f->node);
	if (f->dir && !f->shared->rundir->keep && folder_remove(f->dir) < 0)
		err_fail_sys("cannot remove '%s'", f->dir);
	free(f->dir);
	free(f->tlsdir);
	spec_free(&f->spec);
	free(f);
}

static void
stop_nodes(struct fleet *f, struct str *why)
{
	int killed = node_stop_all(f->node, f->n, f->shared->grace_ms, why);

	if (killed && !f->shared->quiet)
		err_say("server '%s': killed %d node%s that did not end in %d "
			"ms",
		    f->spec.id, killed, killed == 1 ? "" : "s",
		    f->shared->grace_ms);
}

struct fleet *
fleet_start(struct shared *shared, struct json *spec, struct json **record)
{
	struct fleet *f = mem_new(sizeof *f);
	char *id = mem_str(json_get_str(spec, "id"));
	struct str why = {0};

	*record = NULL;
	f->shared = shared;
	if (spec_read(&f->spec, spec, &why) < 0)
		goto bad;
	f->n = f->spec.nodes;
	f->node = mem_array(f->n, sizeof *f->node);
	if (start_nodes(f, record, &why) < 0) {
		/* Not 'ready': a node that ended gets no SHUTDOWN. */
		for (size_t i = 0; i < f->n; i++)
			f->node[i].ready =
			    f->node[i].ready && !node_has_ended(&f->node[i]);
		stop_nodes(f, NULL);
		goto bad;
	}
	free(id);
	str_free(&why);
	return f;
bad:
	*record = fleet_make_failed(id, why.s ? why.s : "");
	free_fleet(f);
	free(id);
	str_free(&why);
	return NULL;
}

const char *
fleet_password(const struct fleet *f)
{
	return f->spec.password;
}

size_t
fleet_count_nodes(const struct fleet *f)
{
	return f->n;
}

void
fleet_fill_fds(const struct fleet *f, struct pollfd *fd)
{
	for (size_t i = 0; i < f->n; i++)
		fd[i] = (struct pollfd){
		    .fd = node_fd(&f->node[i]), .events = POLLIN};
}

bool
fleet_check_end(struct fleet *f, struct json **record)
{
	struct str why = {0};

	for (size_t i = 0; i < f->n; i++)
		if (node_has_ended(&f->node[i])) {
			node_append_end(&f->node[i], &why);
			*record = fleet_make_failed(f->spec.id, why.s);
			json_set_str(*record, "dir", f->dir);
			str_free(&why);
			return true;
		}
	return false;
}

void
fleet_stop(struct fleet *f, struct json **record)
{
	struct str why = {0};

	if (!f)
		return;
	stop_nodes(f, record ? &why : NULL);
	if (why.len) {
		*record = fleet_make_failed(f->spec.id, why.s);
		json_set_str(*record, "dir", f->dir);
		str_free(&why);
	} else if (record)
		*record = fleet_make_stopped(f->spec.id);
	free_fleet(f);
}
