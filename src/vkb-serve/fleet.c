#include "fleet.h"
#include "client.h"
#include "clock.h"
#include "config.h"
#include "cpulist.h"
#include "err.h"
#include "folder.h"
#include "halt.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "port.h"
#include "proc.h"
#include "record.h"
#include "redact.h"
#include "runas.h"
#include "rundir.h"
#include "sink.h"
#include "spec.h"
#include "str.h"
#include "tls.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * One server process, from its configuration to its end. Functions that fail
 * return -1 and set *why to the reason, with the end of the log; they report
 * nothing.
 */

struct node {
	const struct spec *spec;
	size_t index;
	int port;
	char *dir, *log, *socket; /* paths; socket can be NULL */
	char *control, *dumps;    /* of a counted server, else NULL */
	const char *tlsdir;       /* NULL: no TLS */
	struct tls_context *tls;
	struct proc *proc;
	int64_t started; /* clock_ns() of the exec */
	off_t log_start; /* offset of this process's part of the log */
	bool ready;
	bool answered;         /* it answered PING when it was asked to end */
	struct client *client; /* open from ready until node_disconnect */
	struct reply *info;    /* to INFO, once it is ready */
	long pid;              /* by it */
};

enum { TAIL_LINES = 20, TAIL_BYTES = 65536, ANSWER_MS = 1000 };
enum { COUNTED_MS = 60000 }; /* slow, and asked once, since a call counts */

/* Writes a file of a node. Returns 0 or -1. */
static int
node_write_file(const char *path, const struct str *s, struct str *why)
{
	int fd, rc;

	runas_begin_files(false);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	runas_end_files();
	rc = fd < 0 ? -1 : sink_write(fd, s->s, s->len);

	if (rc < 0)
		str_printf(why, "cannot write '%s': %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

static int
copy_rdb(const struct node *n, struct str *why)
{
	const char *from = n->spec->rdb;
	char *to = mem_printf("%s/dump.rdb", n->dir);
	int in = open(from, O_RDONLY | O_CLOEXEC), out, rc;

	runas_begin_files(false);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	runas_end_files();
	rc = in < 0 || out < 0 || sink_copy(in, out) < 0 ? -1 : 0;

	if (rc < 0)
		str_printf(why, "cannot copy '%s' to '%s': %s", from, to,
		    strerror(errno));
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	free(to);
	return rc;
}

static int
write_configuration(struct node *n, const char *conf, struct str *why)
{
	struct str s = {0};
	int rc;

	spec_print_configuration(n->spec, &s, n->port, n->dir, n->tlsdir);
	rc = node_write_file(conf, &s, why);
	str_free(&s);
	return rc == 0 && n->spec->rdb ? copy_rdb(n, why) : rc;
}

/* How a server is run: argv and environment, NULL ends both. */
struct run_with {
	const char *argv[20], *env[12];
	char *out, *preload, seed[24];
};

/* The caches have one size on all machines: that of the counts must not depend
 * on the machine. */
static const char *const simulation[] = {"--cache-sim=yes", "--branch-sim=yes",
    "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64", NULL};

/*
 * Callgrind gets no debugger stub: that would leave pipes in /tmp, and wake the
 * server by ptrace. The library has a socket instead. The launcher of valgrind
 * passes the environment on to the server. When the server converts a time to
 * local time, libc would read the file of the time zone, with its string
 * functions.
 */
static void
prepare_run(struct run_with *w, struct node *n, const char *conf)
{
	const struct spec *s = n->spec;
	const char *others = getenv("LD_PRELOAD");
	size_t i = 0;

	if (s->count) {
		w->out = mem_printf("--callgrind-out-file=%s", n->dumps);
		w->argv[i++] = "valgrind";
		w->argv[i++] = "--tool=callgrind";
		w->argv[i++] = "-q";
		w->argv[i++] = "--vgdb=no";
		w->argv[i++] = "--instr-atstart=no";
		w->argv[i++] = "--collect-systime=yes"; /* and their number */
		for (size_t k = 0; s->caches && simulation[k]; k++)
			w->argv[i++] = simulation[k];
		w->argv[i++] = w->out;
	}
	w->argv[i++] = s->server;
	w->argv[i] = conf;
	if (!s->count)
		return;
	snprintf(w->seed, sizeof w->seed, "%lld", s->seed);
	w->preload = mem_printf(
	    "%s%s%s", s->still, others ? ":" : "", others ? others : "");
	i = 0;
	w->env[i++] = "LD_PRELOAD";
	w->env[i++] = w->preload;
	w->env[i++] = "VKB_STILL_CONTROL";
	w->env[i++] = n->control;
	w->env[i++] = "VKB_STILL_SEED";
	w->env[i++] = w->seed;
	w->env[i++] = "TZ";
	w->env[i++] = "UTC0";
	w->env[i++] =
	    "TMPDIR"; /* killed as it starts, valgrind leaves a file */
	w->env[i] = n->dir;
}

/* Writes the configuration to the folder, which must exist, and starts the
 * process on 'port'. Returns 0 or -1. */
static int
node_start(struct node *n, int port, struct str *why)
{
	char *conf = mem_printf("%s/valkey.conf", n->dir);
	struct run_with with = {0};
	struct proc_spec p = {.argv = with.argv,
	    .setenv = with.env,
	    .cwd = n->dir,
	    .untrusted = true,
	    .in = PROC_NULL,
	    .group = true,
	    .death_signal = SIGKILL,
	    .no_aslr = !n->spec->aslr,
	    .cpus = n->spec->cpus ? &n->spec->cpus[n->index] : NULL};
	int log, rc = -1;

	n->port = port;
	n->ready = false;
	log = open(n->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0) {
		str_printf(
		    why, "cannot write '%s': %s", n->log, strerror(errno));
		goto out;
	}
	n->log_start = lseek(log, 0, SEEK_END);
	if (write_configuration(n, conf, why) < 0)
		goto out;
	prepare_run(&with, n, conf);
	p.out = p.err = log;
	n->started = clock_ns();
	n->proc = proc_start(&p);
	if (!n->proc) {
		str_add(why, err_last());
		goto out;
	}
	rc = 0;
out:
	if (log >= 0)
		close(log);
	free(with.out);
	free(with.preload);
	free(conf);
	return rc;
}

/* readable once it has ended, or -1 */
static int
node_fd(const struct node *n)
{
	return n->proc ? proc_fd(n->proc) : -1;
}

/* Returns how long a call that takes 'ms' at most may take on this server. */
static int
node_call_ms(const struct node *n, int ms)
{
	return n->spec->count ? COUNTED_MS : ms;
}

/* Returns the CPU time that its process has used; 0: there is none. */
static int64_t
node_cpu_ns(const struct node *n)
{
	clockid_t clock;
	struct timespec t;

	if (!n->proc || clock_getcpuclockid(proc_pid(n->proc), &clock) != 0 ||
	    clock_gettime(clock, &t) < 0)
		return 0;
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static bool
node_has_ended(const struct node *n)
{
	struct pollfd fd = {.fd = node_fd(n), .events = POLLIN};

	return fd.fd >= 0 && poll(&fd, 1, 0) > 0;
}

/* Returns the end of the log; caller frees with free(). */
static char *
read_log_end(const struct node *n)
{
	int fd = open(n->log, O_RDONLY | O_CLOEXEC);
	char *buf = mem_new(TAIL_BYTES + 1), *s;
	off_t from = n->log_start, end;
	ssize_t k = 0;
	int lines = 0;

	if (fd >= 0) {
		end = lseek(fd, 0, SEEK_END);
		if (end - from > TAIL_BYTES)
			from = end - TAIL_BYTES;
		k = pread(fd, buf, TAIL_BYTES, from);
		close(fd);
	}
	for (ssize_t i = 0; i < k; i++)
		if (!buf[i])
			buf[i] = '?';
	if (k > 0 && buf[k - 1] == '\n')
		k--;
	buf[k > 0 ? k : 0] = '\0';
	s = strstr(buf, " BUG REPORT START");
	if (s) {
		/* The start of a crash report tells what crashed. */
		while (s > buf && s[-1] != '\n')
			s--;
		for (char *p = s; *p && lines < TAIL_LINES; p++)
			if (*p == '\n' && ++lines == TAIL_LINES)
				*p = '\0';
	} else
		for (s = buf + (k > 0 ? k : 0); s > buf; s--)
			if (s[-1] == '\n' && ++lines == TAIL_LINES)
				break;
	s = mem_str(s);
	free(buf);
	return s;
}

/* Returns whether its log says that the port is in use; call it after its
 * end. */
static bool
node_port_taken(const struct node *n)
{
	char *s = read_log_end(n);
	bool taken = strstr(s, strerror(EADDRINUSE)) != NULL;

	free(s);
	return taken;
}

static void
append_name(const struct node *n, struct str *why)
{
	str_printf(why, "node %zu (port %d)", n->index + 1, n->port);
}

/* Appends "node 2 (port 17001) exited with 1; from the end of its log:" and the
 * log. */
static void
node_append_end(struct node *n, struct str *why)
{
	struct str clean = {0}, plain = {0};
	char *text = read_log_end(n), *line, *rest = text, buf[80];
	int status;

	append_name(n, why);
	str_addc(why, ' ');
	if (proc_wait(n->proc, 0, &status))
		str_add(why, proc_ended(status, buf, sizeof buf));
	else
		str_add(why, "runs");
	str_add(
	    why, *text ? "; from the end of its log:" : "; its log is empty");
	spec_redact(n->spec, &clean, text);
	rest = clean.s;
	while ((line = strsep(&rest, "\n")) && *text) {
		if (!str_utf8(line, strlen(line)))
			for (char *p = line; *p; p++)
				if (*p & 0x80)
					*p = '?';
		str_addc(why, '\n');
		str_clear(&plain);
		str_visible(&plain, line);
		str_addn(why, plain.s ? plain.s : "", plain.len);
	}
	if (strstr(text, "Failed finding TLS support"))
		str_add(why,
		    "\nthe server was built without TLS: build it with "
		    "BUILD_TLS=yes, as vkb-build --tls does");
	/* A setting that we write, and that Redis knows since 7.0. */
	if (strstr(text, "'shutdown-on-sigterm"))
		str_add(why,
		    "\nonly Valkey, and Redis 7.0 or newer, are started; start "
		    "another server yourself and measure it running, with "
		    "--port (vkb-servers(7))");
	str_free(&clean);
	str_free(&plain);
	free(text);
}

/* Appends "node 2 (port 17001): WHAT: " and why a command failed: the error
 * reply 'r', or if it is NULL the error of the connection. */
static void
node_append_refusal(const struct node *n, const char *what,
    const struct reply *r, struct str *why)
{
	append_name(n, why);
	str_printf(why, ": %s: ", what);
	str_visible(
	    why, r && reply_text(r) ? reply_text(r) : client_error(n->client));
}

/* Returns 1 if the server is ready and ours, 0 if not yet, -1 with *why set if
 * it will never be. */
static int
check_ready(struct node *n, struct str *why)
{
	int ms = node_call_ms(n, ANSWER_MS);
	struct reply *r = CLIENT_CALL(n->client, ms, "INFO");
	char *loading = NULL, *pid = NULL;
	int rc = 0;

	if (!r)
		goto out;
	if (reply_type(r) == REPLY_ERROR) {
		/* LOADING and BUSY are temporary, NOAUTH is not. */
		if (str_starts(reply_text(r), "NOAUTH")) {
			append_name(n, why);
			rc = str_fail(
			    why, " needs a password: set 'config.requirepass'");
		}
		goto out;
	}
	loading = reply_info(r, "loading");
	pid = reply_info(r, "process_id");
	if (!loading || !pid || strcmp(loading, "0") != 0)
		goto out;
	/* A counted server sees another process id. */
	n->pid = n->spec->count ? (long)proc_pid(n->proc) : atol(pid);
	/* If the process is not of the group that we started, or a counted
	 * server has not made its control socket before it answers, another
	 * server has the port; ours will end with an error. */
	if (getpgid((pid_t)n->pid) != proc_pid(n->proc) ||
	    (n->control && access(n->control, F_OK) < 0))
		goto out;
	reply_free(n->info);
	n->info = r;
	r = CLIENT_CALL(n->client, ms, "PING");
	rc = r && reply_is(r, "PONG");
out:
	free(loading);
	free(pid);
	reply_free(r);
	return rc;
}

static void
make_address(const struct node *n, struct client_address *a)
{
	*a = (struct client_address){.host = spec_connect_host(n->spec),
	    .port = n->port,
	    .tls = n->tls,
	    .servername = "localhost",
	    .password = n->spec->password};
}

/* Closes the control connection. */
static void
node_disconnect(struct node *n)
{
	client_close(n->client);
	n->client = NULL;
}

/* Returns 1 if the server is ready, 0 if not yet, -1 if it never will be. */
static int
node_poll(struct node *n, struct str *why)
{
	struct client_address a;
	int rc;

	if (n->ready)
		return 1;
	if (node_has_ended(n)) {
		node_append_end(n, why);
		return -1;
	}
	make_address(n, &a);
	n->client = client_open(&a, ANSWER_MS);
	if (!n->client && errno == ENETUNREACH) /* it has bound its port */
		return str_fail(why,
		    "cannot connect to %s: %s; is the loopback interface "
		    "down? 'ip link set lo up' starts it",
		    a.host, strerror(errno));
	if (!n->client)
		return 0;
	rc = check_ready(n, why);
	if (rc == 1)
		n->ready = true;
	else
		node_disconnect(n);
	return rc;
}

/*
 * Sends SIGTERM and SHUTDOWN: the server handles the signal at its next timer
 * tick, up to 100 ms later, but the command at once.
 */
static void
request_end(struct node *n)
{
	struct client_address a;
	struct reply *pong;
	struct client *c;

	if (n->spec->count) { /* its time does not advance, so that it handles
				 no signal */
		n->answered = true;
		proc_signal(n->proc, SIGKILL);
		return;
	}
	proc_signal(n->proc, SIGTERM);
	proc_signal(n->proc, SIGCONT);
	if (!n->ready || node_has_ended(n))
		return;
	make_address(n, &a);
	c = client_open(&a, 50);
	pong = c ? CLIENT_CALL(c, 50, "PING") : NULL;
	n->answered = pong != NULL;
	if (c)
		reply_free(CLIENT_CALL(c, 50, "SHUTDOWN", "NOSAVE", "NOW"));
	reply_free(pong);
	client_close(c);
}

/*
 * Returns whether the server was killed by a signal other than SIGTERM before
 * it was asked to end: clients notice that before waitpid() does.
 */
static bool
has_crashed(const struct node *n)
{
	int status;

	return n->ready && !n->answered && proc_wait(n->proc, 0, &status) &&
	    WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM;
}

static void
reap_process(struct node *n)
{
	proc_free(n->proc);
	n->proc = NULL;
	if (n->socket)
		unlink(n->socket);
}

/*
 * Asks all nodes to end, and kills those that run after grace_ms. Returns how
 * many were killed. If one had crashed before, appends node_append_end to *why;
 * 'why' can be NULL.
 */
static int
node_stop_all(struct node *v, size_t count, int grace_ms, struct str *why)
{
	int64_t deadline = clock_ns() + grace_ms * INT64_C(1000000);
	struct pollfd fd = {.events = POLLIN};
	int killed = 0;

	for (size_t i = 0; i < count; i++) {
		node_disconnect(&v[i]);
		if (v[i].proc && !node_has_ended(&v[i]))
			request_end(&v[i]);
	}
	for (size_t i = 0; i < count; i++) {
		if (!v[i].proc)
			continue;
		fd.fd = proc_fd(v[i].proc);
		while (
		    poll(&fd, 1, clock_left_ms(deadline)) < 0 && errno == EINTR)
			;
		killed += !node_has_ended(&v[i]);
		if (why && !why->len && has_crashed(&v[i]))
			node_append_end(&v[i], why);
		reap_process(&v[i]);
	}
	return killed;
}

static void
node_free(struct node *n)
{
	node_disconnect(n);
	proc_free(n->proc);
	reply_free(n->info);
	free(n->dir);
	free(n->log);
	free(n->socket);
	free(n->control);
	free(n->dumps);
}

enum { SLOTS = 16384, CALL_MS = 5000, TELL_NS = 400000000, PORT_TRIES = 20 };

/* Formats the id of a placeholder of node i: the owner of the slots that the
 * node will take ('own'), or of all others. */
static void
format_placeholder_id(char id[41], size_t i, bool own)
{
	snprintf(id, 41, "%040zx", 2 * i + (own ? 1 : 2));
}

/*
 * Writes nodes.conf into 'dir', the folder of node i, before it starts. Returns
 * 0, or -1 with the reason in *why.
 */
static int
write_seed(const struct spec *s, size_t i, const char *dir, struct str *why)
{
	size_t primaries = (size_t)s->primaries;
	size_t first = i * SLOTS / primaries;
	size_t last = (i + 1) * SLOTS / primaries - 1;
	char own[41], rest[41], self[41];
	unsigned char random[20];
	struct str text = {0};
	char *path;
	int rc;

	if (i >= primaries)
		return 0; /* replicas need no nodes.conf */
	if (getrandom(random, sizeof random, 0) != sizeof random)
		err_die("cannot get random numbers");
	for (size_t k = 0; k < sizeof random; k++)
		snprintf(self + 2 * k, 3, "%02x", random[k]);
	format_placeholder_id(own, i, true);
	format_placeholder_id(rest, i, false);
	str_printf(&text,
	    "%s :0@0 myself,slave %s 0 0 0 connected\n"
	    "%s :0@0 master - 0 0 0 connected %zu-%zu\n",
	    self, own, own, first, last);
	if (primaries > 1)
		str_printf(&text, "%s :0@0 master - 0 0 0 connected", rest);
	if (first > 0)
		str_printf(&text, " 0-%zu", first - 1);
	if (last < SLOTS - 1)
		str_printf(&text, " %zu-%d", last + 1, SLOTS - 1);
	str_printf(&text, "%svars currentEpoch 0 lastVoteEpoch 0\n",
	    primaries > 1 ? "\n" : "");
	path = mem_printf("%s/nodes.conf", dir);
	rc = node_write_file(path, &text, why);
	str_free(&text);
	free(path);
	return rc;
}

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
	if (f->spec.cluster && write_seed(&f->spec, i, f->node[i].dir, why) < 0)
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
wait_for_event(struct fleet *f, struct str *why)
{
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

/*
 * Forms a cluster of nodes: the first 'primaries' nodes share the slots.
 *
 * A new primary reports the cluster as down for two seconds; a replica does
 * not. So each primary starts as the replica of a placeholder, a node without
 * process and address that owns its slots. Once all nodes have met, the
 * primaries take over the slots and forget the placeholders. The result is an
 * ordinary cluster.
 */

struct form {
	struct fleet *fleet;
	size_t primaries;
	char **id;     /* of each node */
	char **level;  /* log level of each node before toggle_log_level */
	bool *settled; /* node has forgotten its placeholders */
	struct str *why;
};

/* Sets *why to the reason why node i refused a command. Returns -1. */
static int
set_refusal(struct form *f, size_t i, const char *a, const char *b,
    const struct reply *r)
{
	char *what = mem_printf("%s %s", a, b);

	str_clear(f->why);
	node_append_refusal(&f->fleet->node[i], what, r, f->why);
	free(what);
	return -1;
}

/* Sends a command; any reply but OK is an error. */
static int
send_command(struct form *f, size_t i, const char *const *argv)
{
	struct reply *r = client_call(f->fleet->node[i].client, CALL_MS, argv);
	int rc = 0;

	if (!r || !reply_is(r, "OK"))
		rc = set_refusal(f, i, argv[0], argv[1], r);
	reply_free(r);
	return rc;
}
#define COMMAND(f, i, ...) \
	send_command(f, i, (const char *const[]){__VA_ARGS__, NULL})

/* Returns the text reply to a command, or NULL with *why set. */
static struct reply *
ask_text(struct form *f, size_t i, const char *a, const char *b)
{
	struct reply *r = CLIENT_CALL(f->fleet->node[i].client, CALL_MS, a, b);

	if (r && reply_type(r) == REPLY_TEXT)
		return r;
	set_refusal(f, i, a, b, r);
	reply_free(r);
	return NULL;
}

static int
read_node_id(struct form *f, size_t i)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "MYID");

	f->id[i] = r ? mem_str(reply_text(r)) : NULL;
	reply_free(r);
	return f->id[i] ? 0 : -1;
}

/* Makes node i meet all nodes from 'first' on, instead of waiting for gossip.
 */
static int
meet_nodes(struct form *f, size_t i, size_t first)
{
	const char *host = spec_connect_host(&f->fleet->spec);
	char port[16];

	for (size_t k = first; k < f->fleet->n; k++) {
		snprintf(port, sizeof port, "%d", f->fleet->node[k].port);
		if (k != i && COMMAND(f, i, "CLUSTER", "MEET", host, port) < 0)
			return -1;
	}
	return 0;
}

static size_t
count_occurrences(const char *s, const char *what)
{
	size_t n = 0;

	for (; (s = strstr(s, what)); s += strlen(what))
		n++;
	return n;
}

static bool
is_info_value(const struct reply *r, const char *field, long long want)
{
	char *s = reply_info(r, field);
	bool is = s && atoll(s) == want;

	free(s);
	return is;
}

/* Copies the line of CLUSTER NODES about 'id' to buf, or "". */
static void
find_node_line(const char *nodes, const char *id, char *buf, size_t size)
{
	const char *s = strstr(nodes, id);

	/* Inside a line the id is the primary of another node. */
	while (s && s != nodes && s[-1] != '\n')
		s = strstr(s + 1, id);
	snprintf(buf, size, "%.*s", s ? (int)strcspn(s, "\n") : 0, s);
}

/* Returns 1 if node i is connected to the first n nodes and, with 'slots',
 * knows which slots they have; 0 if not yet, -1 on error. */
static int
are_connected(struct form *f, size_t i, size_t n, bool slots)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "NODES");
	const char *state = slots ? " connected " : " connected", *s;
	char line[512];
	int rc = 1;

	if (!r)
		return -1;
	for (size_t k = 0; k < n && rc; k++) {
		find_node_line(reply_text(r), f->id[k], line, sizeof line);
		s = strstr(line, state);
		rc = s && (!slots || s[strlen(state)]);
	}
	if (!slots && strstr(reply_text(r), "handshake"))
		rc = 0;
	reply_free(r);
	return rc;
}

static int
is_connected_to_all(struct form *f, size_t i)
{
	return are_connected(f, i, f->fleet->n, false);
}

/*
 * Makes node i forget the placeholders if the primaries have all slots. Returns
 * 1 if done, 0 if not yet, -1 on error.
 */
static int
forget_placeholders(struct form *f, size_t i)
{
	char id[41];
	int rc;

	if (f->settled[i])
		return 1;
	rc = are_connected(f, i, f->primaries, true);
	/* Gossip may have brought placeholders of other nodes; unknown ids are
	 * an error that does not matter. */
	for (size_t k = 0; k < 2 * f->primaries && rc == 1; k++) {
		format_placeholder_id(id, k / 2, k % 2);
		reply_free(CLIENT_CALL(f->fleet->node[i].client, CALL_MS,
		    "CLUSTER", "FORGET", id));
	}
	f->settled[i] = rc == 1;
	return rc;
}

/* Returns 1 if node i knows the role of every replica, 0 or -1. */
static int
knows_all_replicas(struct form *f, size_t i)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "NODES");
	const char *s;
	int rc;

	if (!r)
		return -1;
	s = reply_text(r);
	rc = count_occurrences(s, " slave ") +
		count_occurrences(s, "myself,slave ") ==
	    f->fleet->n - f->primaries;
	reply_free(r);
	return rc;
}

static int
is_state_ok(struct form *f, size_t i)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "INFO");
	char *state = r ? reply_info(r, "cluster_state") : NULL;
	int rc = r ? 0 : -1;

	if (state && strcmp(state, "ok") == 0)
		rc = is_info_value(r, "cluster_slots_assigned", SLOTS) &&
		    is_info_value(r, "cluster_slots_ok", SLOTS) &&
		    is_info_value(
			r, "cluster_known_nodes", (long long)f->fleet->n) &&
		    is_info_value(r, "cluster_size", (long long)f->primaries);
	free(state);
	reply_free(r);
	return rc;
}

/* Returns 1 if the replica is in sync, or the primary has all its replicas; 0
 * if not yet; -1 on error. */
static int
is_replicating(struct form *f, size_t i)
{
	struct reply *r = ask_text(f, i, "INFO", "replication");
	char *link = r ? reply_info(r, "master_link_status") : NULL;
	int rc = !r ? -1
	    : i < f->primaries
	    ? is_info_value(r, "connected_slaves", f->fleet->spec.replicas)
	    : link && strcmp(link, "up") == 0;

	free(link);
	reply_free(r);
	return rc;
}

/* Returns 1 if node i is complete, 0 if not yet, -1 on error. */
static int
is_settled(struct form *f, size_t i)
{
	int rc = forget_placeholders(f, i);

	if (rc == 1)
		rc = knows_all_replicas(f, i);
	if (rc == 1) {
		rc = is_state_ok(f, i);
		f->settled[i] = rc == 1; /* gossip can bring one back */
	}
	if (rc == 1 && f->fleet->spec.replicas)
		rc = is_replicating(f, i);
	return rc;
}

/*
 * Waits until 'holds' returns 1 for all nodes. With 'tell' the nodes meet again
 * every TELL_NS: versions that do not announce a change of role (Redis 7.0)
 * send it with a ping per second otherwise.
 */
static int
wait_until_all(struct form *f, int (*holds)(struct form *, size_t), bool tell)
{
	int64_t late = clock_ns() + TELL_NS;
	size_t good;
	int rc;

	for (;;) {
		good = 0;
		for (size_t i = 0; i < f->fleet->n; i++) {
			rc = holds(f, i);
			if (rc < 0)
				return -1;
			good += rc == 1;
		}
		if (good == f->fleet->n)
			return 0;
		if (wait_for_event(f->fleet, f->why) < 0)
			return -1;
		if (!tell || clock_ns() < late)
			continue;
		for (size_t i = 0; i < f->fleet->n; i++)
			if (meet_nodes(f, i, 0) < 0)
				return -1;
		late = clock_ns() + TELL_NS;
	}
}

static long long
read_epoch(struct form *f, size_t i, const char *field)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "INFO");
	char *s = r ? reply_info(r, field) : NULL;
	long long v = s ? atoll(s) : -1;

	free(s);
	reply_free(r);
	return v;
}

/* Takes over one after the other, so that each gets its own epoch. */
static int
take_over_slots(struct form *f)
{
	long long last = 0, now;

	for (size_t i = 0; i < f->primaries; i++) {
		while ((now = read_epoch(f, i, "cluster_current_epoch")) < last)
			if (now < 0 || wait_for_event(f->fleet, f->why) < 0)
				return -1;
		if (COMMAND(f, i, "CLUSTER", "FAILOVER", "TAKEOVER") < 0)
			return -1;
		last = read_epoch(f, i, "cluster_my_epoch");
		if (last < 0)
			return -1;
	}
	for (size_t i = f->primaries; i < f->fleet->n; i++)
		if (COMMAND(f, i, "CLUSTER", "REPLICATE",
			f->id[(i - f->primaries) % f->primaries]) < 0)
			return -1;
	return 0;
}

/*
 * Sets the log level to warning and saves the old one in *level; if *level is
 * set, restores it. Some versions log each of the 16384 slots that leave a
 * placeholder.
 */
static int
toggle_log_level(struct form *f, size_t i, char **level)
{
	struct reply *r;
	int rc;

	if (*level)
		return COMMAND(f, i, "CONFIG", "SET", "loglevel", *level);
	r = CLIENT_CALL(
	    f->fleet->node[i].client, CALL_MS, "CONFIG", "GET", "loglevel");
	if (!r || reply_len(r) != 2) {
		rc = set_refusal(f, i, "CONFIG", "GET", r);
	} else {
		*level = mem_str(reply_text(reply_at(r, 1)));
		rc = COMMAND(f, i, "CONFIG", "SET", "loglevel", "warning");
	}
	reply_free(r);
	return rc;
}

static int
join_nodes(struct form *f)
{
	for (size_t i = 0; i < f->fleet->n; i++)
		if (read_node_id(f, i) < 0 || meet_nodes(f, i, i + 1) < 0 ||
		    toggle_log_level(f, i, &f->level[i]) < 0)
			return -1;
	/* Twice: gossip can still change a node after it was asked first. */
	if (wait_until_all(f, is_connected_to_all, false) < 0 ||
	    take_over_slots(f) < 0 || wait_until_all(f, is_settled, true) < 0 ||
	    wait_until_all(f, is_settled, true) < 0)
		return -1;
	for (size_t i = 0; i < f->fleet->n; i++)
		if (toggle_log_level(f, i, &f->level[i]) < 0)
			return -1;
	return 0;
}

/*
 * Forms the cluster; all nodes must be ready and know no others. Returns 0 when
 * every node reports the cluster as ok and all replicas are in sync, or -1 with
 * the reason in *why.
 */
static int
form_cluster(struct fleet *fleet, struct str *why)
{
	struct form f = {.fleet = fleet,
	    .primaries = (size_t)fleet->spec.primaries,
	    .why = why};
	int rc;

	f.id = mem_array(fleet->n, sizeof *f.id);
	f.level = mem_array(fleet->n, sizeof *f.level);
	f.settled = mem_array(fleet->n, sizeof *f.settled);
	rc = join_nodes(&f);
	for (size_t i = 0; i < fleet->n; i++) {
		free(f.id[i]);
		free(f.level[i]);
	}
	free(f.id);
	free(f.level);
	free(f.settled);
	return rc;
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
	if (f->spec.cluster && form_cluster(f, why) < 0)
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
