#include "handle.h"
#include "client.h"
#include "clock.h"
#include "context.h"
#include "counting.h"
#include "err.h"
#include "extserver.h"
#include "json.h"
#include "logs.h"
#include "mem.h"
#include "proc.h"
#include "record.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/plan/benchcase.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* vkb-serve has shorter deadlines of its own, and reports what is wrong. */
#define ANSWER_S INT64_C(300)
#define GRACE_MS 15000

struct coproc {
	struct proc *proc;
	const char *name; /* for messages */
	int fd; /* a socket, so that a dead child is EPIPE and not SIGPIPE */
	struct str in;
	struct json **kept; /* failures of servers that were not asked about */
	size_t nkept, cap;
};

/*
 * The child is in a process group of its own, so ^C reaches it through us. A
 * command like ssh gets a session of its own: it has no terminal to ask on.
 */
struct coproc *
handle_start_serve(const char *const *command)
{
	char *path = proc_beside("vkb-serve");
	const char *const own[] = {path, "--follow", NULL};
	const char *const quiet[] = {"SSH_ASKPASS_REQUIRE", "never", NULL};
	struct proc_spec spec = {.argv = command ? command : own,
	    .setenv = command ? quiet : NULL,
	    .group = !command,
	    .session = command != NULL};
	struct coproc *c = NULL;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0) {
		err_fail_sys("cannot make a socket pair");
		free(path);
		return NULL;
	}
	spec.in = spec.out = fd[1];
	c = mem_new(sizeof *c);
	c->fd = fd[0];
	c->proc = proc_start(&spec);
	c->name = command ? "the command of '--serve'" : "vkb-serve";
	close(fd[1]);
	if (!c->proc) {
		close(fd[0]);
		free(c);
		c = NULL;
	}
	free(path);
	return c;
}

static int
report_end(struct coproc *c)
{
	char how[80];
	int status;

	if (proc_wait(c->proc, 1000, &status))
		return err_fail(
		    "%s %s", c->name, proc_ended(status, how, sizeof how));
	return err_fail("%s closed its output", c->name);
}

static int
send_spec(struct coproc *c, const struct json *spec)
{
	struct str s = {0};
	size_t done = 0;
	ssize_t n;
	int rc = 0;

	json_append_line(&s, spec);
	while (done < s.len && rc == 0) {
		n = send(c->fd, s.s + done, s.len - done, MSG_NOSIGNAL);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			rc = report_end(c);
	}
	str_free(&s);
	return rc;
}

/*
 * Returns one line, or NULL: stopped, or an error was reported. Caller frees.
 */
static char *
read_line(struct coproc *c, const volatile int *stop)
{
	int64_t deadline = clock_ns() + ANSWER_S * INT64_C(1000000000);
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	char buf[65536], *end, *line;
	ssize_t n;

	for (;;) {
		end = c->in.len ? memchr(c->in.s, '\n', c->in.len) : NULL;
		if (end)
			break;
		if (*stop)
			return NULL;
		if (!clock_left_ms(deadline)) {
			err_fail("%s did not answer in %lld s", c->name,
			    (long long)ANSWER_S);
			return NULL;
		}
		if (poll(&p, 1, 100) <= 0)
			continue;
		n = read(c->fd, buf, sizeof buf);
		if (n > 0)
			str_addn(&c->in, buf, (size_t)n);
		else if (n == 0 || errno != EINTR) {
			report_end(c);
			return NULL;
		}
	}
	n = end - c->in.s;
	line = mem_strn(c->in.s, (size_t)n);
	memmove(c->in.s, end + 1, c->in.len - (size_t)n - 1);
	c->in.len -= (size_t)n + 1;
	return line;
}

/* Stores the record of another server, also that of a failure. */
static void
keep_failure(struct coproc *c, struct json *rec)
{
	if (strcmp(json_get_str(rec, "status"), "failed") != 0) {
		json_free(rec);
		return;
	}
	*MEM_ADD(c->kept, c->nkept, c->cap) = rec;
}

/* Returns the failure that was kept for the server, which the caller frees, or
 * NULL. */
static struct json *
take_failure(struct coproc *c, const char *id)
{
	struct json *rec;

	for (size_t i = 0; i < c->nkept; i++)
		if (strcmp(json_get_str(c->kept[i], "id"), id) == 0) {
			rec = c->kept[i];
			c->kept[i] = c->kept[--c->nkept];
			return rec;
		}
	return NULL;
}

/* Returns the next record, or NULL as read_line. Caller frees. */
static struct json *
read_record(struct coproc *c, const volatile int *stop)
{
	char *line = read_line(c, stop);
	struct json *rec;
	const char *why;

	if (!line)
		return NULL;
	rec = json_parse(line, strlen(line), &why, NULL);
	free(line);
	if (!rec)
		err_fail("%s: bad record: %s", c->name, why);
	else if (record_check(rec, c->name) < 0 || !record_is(rec, "server")) {
		json_free(rec);
		rec = NULL;
		err_fail("%s: not a server record", c->name);
	}
	return rec;
}

/* If the server failed while another one was asked about, the answer is that
 * failure, and not a later record that the server is stopped. */
struct json *
handle_ask_serve(
    struct coproc *c, const struct json *spec, const volatile int *stop)
{
	const char *id = json_get_str(spec, "id");
	struct json *rec, *failure;

	if (send_spec(c, spec) < 0)
		return NULL;
	while ((rec = read_record(c, stop)) &&
	    strcmp(json_get_str(rec, "id"), id) != 0)
		keep_failure(c, rec);
	failure = rec ? take_failure(c, id) : NULL;
	if (failure) {
		json_free(rec);
		return failure;
	}
	return rec;
}

bool
handle_has_news(const struct coproc *c)
{
	struct pollfd p = {.events = POLLIN};

	if (!c)
		return false;
	p.fd = c->fd;
	return c->in.len || poll(&p, 1, 0) > 0;
}

void
handle_close_serve(struct coproc *c)
{
	if (!c)
		return;
	shutdown(c->fd, SHUT_WR);
	if (!proc_wait(c->proc, GRACE_MS, NULL))
		proc_stop(c->proc, GRACE_MS);
	proc_free(c->proc);
	close(c->fd);
	str_free(&c->in);
	for (size_t i = 0; i < c->nkept; i++)
		json_free(c->kept[i]);
	free(c->kept);
	free(c);
}

#define PING_MS 10000

struct json *
handle_list_modules(const struct json *build, const struct json *args)
{
	const char *path = json_get_str(build, "module");
	struct json *list, *m;

	if (!path)
		return NULL;
	list = json_array();
	m = json_object();
	json_set_str(m, "path", path);
	json_set(m, "args", json_dup(args));
	json_push(list, m);
	return list;
}

static struct json *
make_spec(const struct server_handle *l, const struct bench_case *cas)
{
	struct json *rec = record_new("spec");

	json_set_str(rec, "id", l->id);
	json_set_str(rec, "action", cas ? "start" : "stop");
	if (!cas)
		return rec;
	json_set_str(rec, "server", json_get_str(l->build, "server"));
	for (const struct json *m = json_first(cas->server); m;
	     m = json_next(m))
		json_set(rec, json_key(m), json_dup(m));
	if (cas->server_cpus)
		json_set(rec, "cpus", json_dup(cas->server_cpus));
	else if (cas->unplaced)
		json_set_str(rec, "placement", "none");
	/* That of the build replaces the case's and takes its arguments. */
	json_set(rec, "modules",
	    handle_list_modules(
		l->build, json_get(json_first(cas->modules), "args")));
	if (l->context->serve) {
		json_set_str(rec, "host", l->context->serve->host);
		if (l->context->serve->port)
			json_set_num(rec, "port", l->context->serve->port);
	}
	if (l->count) {
		json_set_num(rec, "count",
		    cas->seed >= 0 ? (double)cas->seed : COUNTING_SEED);
		if (l->context->count_caches)
			json_set_bool(rec, "count_caches", true);
	}
	return rec;
}

/* After an error the coprocess is closed; the next call starts a new one. */
static struct json *
ask_coproc(struct server_handle *l, const struct bench_case *cas)
{
	struct case_context *r = l->context;
	struct json *s, *answer;

	if (!r->coproc)
		r->coproc = handle_start_serve(serve_words(r->serve));
	if (!r->coproc)
		return NULL;
	s = make_spec(l, cas);
	answer = handle_ask_serve(r->coproc, s, r->stop);
	json_free(s);
	if (!answer) {
		handle_close_serve(r->coproc);
		r->coproc = NULL;
	}
	return answer;
}

/* Sets *why to the error that vkb-serve has reported. Returns -1. */
static int
set_failure(const struct json *server, char **why)
{
	const char *error = json_get_str(server, "error");

	*why = mem_str(error ? error : "the server failed");
	return -1;
}

/*
 * Removes from the record of a server on another machine the processes and
 * files, which exist only there. Metrics of them are then unknown.
 */
static void
remove_local_facts(struct json *server)
{
	struct json *n = json_first(json_get(server, "nodes"));

	json_del(server, "dir");
	for (; n; n = json_next(n)) {
		json_del(n, "pid");
		json_del(n, "log");
		json_del(n, "unixsocket");
	}
}

double
handle_timeout(const struct case_context *r, const struct bench_case *cas)
{
	return r->timeout_s > 0 ? r->timeout_s : cas->timeout_s;
}

int
handle_start(struct server_handle *l, const struct bench_case *cas, char **why)
{
	struct case_context *r = l->context;
	struct json *server;
	int rc = 0;

	*why = NULL;
	l->used = false;
	r->halt = 0;
	if (r->external) {
		rc =
		    extserver_prepare(r->external, cas, handle_timeout(r, cas));
		if (rc == 0) {
			l->server = json_dup(extserver_record(r->external));
			return 0;
		}
		*why = mem_str(err_last());
		extserver_restore(r->external);
		return rc;
	}
	snprintf(l->id, sizeof l->id, "%s-%zu", r->session, ++r->servers);
	server = ask_coproc(l, cas);
	if (!server)
		return -1;
	if (strcmp(json_get_str(server, "status"), "ok") == 0) {
		l->server = server;
		if (r->started)
			r->started(r->started_arg, l->build, server);
		if (r->serve)
			remove_local_facts(server);
		logs_forget_server(l->logs);
		l->logs = r->serve
		    ? NULL
		    : logs_begin_server(r->logs, server, cas->id,
			  json_get(l->build, "subject"), r->run_name);
		return 0;
	}
	rc = set_failure(server, why);
	json_free(server);
	return rc;
}

/* Compares a hash that the build has with that of what was started: the
 * program, or a script that started it. */
static int
check_hash(const struct server_handle *l, const char *key, const char *what,
    const struct json *file)
{
	const char *wanted = json_get_str(l->build, key);
	const char *found = json_get_str(file, "sha256");
	const char *script = json_get_str(file, "script_sha256");
	const char *path = json_get_str(file, "path");

	if (!wanted || (found && strcmp(found, wanted) == 0) ||
	    (script && strcmp(script, wanted) == 0))
		return 0;
	return err_fail("the %s '%s' is not the one that is wanted: it was "
			"replaced; its SHA-256 is %s instead of %s; put the "
			"wanted file there",
	    what, path ? path : "", found ? found : "not known", wanted);
}

int
handle_check_files(const struct server_handle *l)
{
	if (!json_get_bool(l->build, "again", false))
		return 0;
	if (check_hash(l, "binary_sha256", "server",
		json_get(l->server, "binary")) < 0)
		return -1;
	return check_hash(l, "module_sha256", "module",
	    json_first(json_get(l->server, "modules")));
}

/* Stops a server of our own. Returns 0, or -1 with *why. */
static int
stop_server(struct server_handle *l, char **why)
{
	struct json *server = ask_coproc(l, NULL);
	int rc = 0;

	if (!server)
		return -1;
	if (strcmp(json_get_str(server, "status"), "failed") == 0)
		rc = set_failure(server, why);
	json_free(server);
	return rc;
}

int
handle_end(struct server_handle *l, char **why)
{
	struct case_context *r = l->context;
	int rc = 0;

	*why = NULL;
	if (!l->server)
		return 0;
	json_free(l->server);
	l->server = NULL;
	if (r->external)
		return extserver_restore(r->external);
	if (r->coproc && !*r->stop) /* else its servers end with it */
		rc = stop_server(l, why);
	if (l->logs)
		logs_end_server(l->logs);
	return rc;
}

void
handle_free(struct server_handle *l)
{
	logs_forget_server(l->logs);
	l->logs = NULL;
}

int
handle_reset(struct server_handle *l, const struct bench_case *cas, char **why)
{
	*why = NULL;
	if (l->server && !l->used)
		return 0;
	if (handle_end(l, why) < 0)
		return -1;
	return handle_start(l, cas, why);
}

/* Asks the server: vkb-serve may not have noticed yet that it ended. */
static bool
is_answering(const struct server_handle *l, const struct bench_case *cas)
{
	struct client *c = NULL;
	struct reply *r = NULL;
	struct target t;
	bool made = handle_target(l, cas, &t) == 0, yes;

	if (made)
		c = target_client(&t, 0);
	if (c)
		r = CLIENT_CALL(c, control_ms(&t.e, PING_MS), "PING");
	yes = !made || r != NULL; /* what is wrong here is not the server */
	reply_free(r);
	client_close(c);
	target_free(&t);
	return yes;
}

bool
handle_is_lost(
    const struct server_handle *l, const struct bench_case *cas, bool doubt)
{
	if (!l->server)
		return true;
	if (l->context->external)
		return false;
	return handle_has_news(l->context->coproc) ||
	    (doubt && !is_answering(l, cas));
}

int
handle_target(const struct server_handle *l, const struct bench_case *cas,
    struct target *t)
{
	const char *own = cas->password;

	if (target_make(t, l->server, cas->unixsocket, &cas->load) < 0)
		return -1;
	if (l->context->external)
		extserver_login(l->context->external, t);
	else
		t->e.password = own && *own ? own : NULL;
	t->e.timeout_s = handle_timeout(l->context, cas);
	return 0;
}
