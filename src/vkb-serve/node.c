#include "node.h"
#include "spec.h"

#include "client.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "runas.h"
#include "sink.h"
#include "str.h"
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TAIL_LINES = 20, TAIL_BYTES = 65536, CALL_MS = 1000 };
enum { COUNTED_MS = 60000 }; /* slow, and asked once, since a call counts */

int
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

int
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

int
node_fd(const struct node *n)
{
	return n->proc ? proc_fd(n->proc) : -1;
}

int
node_call_ms(const struct node *n, int ms)
{
	return n->spec->count ? COUNTED_MS : ms;
}

int64_t
node_cpu_ns(const struct node *n)
{
	clockid_t clock;
	struct timespec t;

	if (!n->proc || clock_getcpuclockid(proc_pid(n->proc), &clock) != 0 ||
	    clock_gettime(clock, &t) < 0)
		return 0;
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

bool
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

bool
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

void
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

void
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
	int ms = node_call_ms(n, CALL_MS);
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

int
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
	n->client = client_open(&a, CALL_MS);
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

void
node_disconnect(struct node *n)
{
	client_close(n->client);
	n->client = NULL;
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

int
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

void
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
