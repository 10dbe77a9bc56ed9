#include "coproc.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "record.h"
#include "str.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
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
coproc_start(const char *const *command)
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
	c->kept = mem_grow(c->kept, c->nkept, &c->cap, sizeof *c->kept);
	c->kept[c->nkept++] = rec;
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
coproc_ask(struct coproc *c, const struct json *spec, const volatile int *stop)
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
coproc_has_news(const struct coproc *c)
{
	struct pollfd p = {.events = POLLIN};

	if (!c)
		return false;
	p.fd = c->fd;
	return c->in.len || poll(&p, 1, 0) > 0;
}

void
coproc_close(struct coproc *c)
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
