#include "child.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "proc.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/servercounts.h"
#include "vkb-load/case/target.h"
#include "vkb-load/meter/watch.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TICK_MS 100
#define SILENCE_S 60
#define OUTPUT_MOST 1048576 /* bytes, of stdout and of stderr each */
#define LAST_WORDS 400

struct waiting {
	const struct child_spec *s;
	struct servercounts *counts;
	struct proc *proc;
	int out, err;
	int64_t began, asked;
	double calls; /* served, when last asked */
	double silence_s;
};

static double
get_age_s(int64_t ns)
{
	return (double)(clock_ns() - ns) / 1e9;
}

/* Returns -1 after reporting that nothing was served since the last look. */
static int
check_silence(struct waiting *w)
{
	double calls;

	if (get_age_s(w->asked) < w->silence_s)
		return 0;
	calls = servercounts_calls(w->counts);
	if (servercounts_require(w->counts) < 0)
		return -1;
	if (calls <= w->calls)
		return err_fail(
		    "'%s' sent nothing for %g s", w->s->argv[0], w->silence_s);
	w->calls = calls;
	w->asked = clock_ns();
	return 0;
}

static int
check_output_size(const struct waiting *w)
{
	const int fds[] = {w->out, w->err};
	struct stat st;

	for (size_t i = 0; i < 2; i++)
		if (fstat(fds[i], &st) == 0 && st.st_size > OUTPUT_MOST)
			return err_fail("'%s' printed more than %d bytes",
			    w->s->argv[0], OUTPUT_MOST);
	return 0;
}

static void
report_progress(const struct waiting *w)
{
	struct engine_progress e = {.p99_ms = NAN, .warmup = w->s->warmup};
	const struct engine_job *j = w->s->job;

	if (w->s->expected_s > 0)
		e.done = fmin(.99, get_age_s(w->began) / w->s->expected_s);
	if (j->progress)
		j->progress(j->arg, &e);
}

/*
 * Waits until the child ends, without reaping it. Returns 0, or -1 as
 * child_run.
 */
static int
wait_for_end(struct waiting *w)
{
	struct pollfd p = {.fd = proc_fd(w->proc), .events = POLLIN};
	const struct child_spec *s = w->s;
	double most_s = s->most_s + w->silence_s;

	while (poll(&p, 1, TICK_MS) <= 0) {
		report_progress(w);
		if (*s->job->stop)
			return -1;
		if (s->most_s > 0 && get_age_s(w->began) > most_s)
			return err_fail(
			    "'%s' took more than %.3g s", s->argv[0], most_s);
		if (check_output_size(w) < 0 || check_silence(w) < 0)
			return -1;
	}
	return check_output_size(w);
}

/* Reads an output, up to the limit, and closes its file. */
static void
take_output(struct str *to, int fd)
{
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return;
	lseek(fd, 0, SEEK_SET);
	while (to->len < OUTPUT_MOST && (n = read(fd, buf, sizeof buf)) > 0)
		str_addn(to, buf, (size_t)n);
	close(fd);
}

static int
run_child(struct waiting *w, struct child *c)
{
	const struct child_spec *s = w->s;
	struct proc_spec spec = {.argv = s->argv,
	    .setenv = s->setenv,
	    .untrusted = true,
	    .in = PROC_NULL,
	    .out = w->out,
	    .err = w->err,
	    .group = true,
	    .death_signal = SIGKILL,
	    .cpus = s->job->work->cpus};
	int rc;

	c->counts = w->counts = servercounts_open(s->job->target, 0);
	servercounts_begin(c->counts);
	if (servercounts_require(c->counts) < 0)
		return -1;
	c->watch = watch_child(&s->job->target->e, s->job->work->threads);
	watch_begin(c->watch);
	w->proc = proc_start(&spec);
	if (!w->proc) {
		watch_end(c->watch);
		return -1;
	}
	watch_set_child(c->watch, proc_pid(w->proc));
	w->began = w->asked = clock_ns();
	rc = wait_for_end(w);
	watch_end(c->watch);
	c->status = proc_stop(w->proc, 0);
	proc_free(w->proc);
	if (rc < 0 || c->status)
		return rc;
	servercounts_end(c->counts);
	return servercounts_require(c->counts);
}

int
child_run(const struct child_spec *s, struct child *c)
{
	double timeout_s = s->job->work->timeout_s;
	struct waiting w = {.s = s,
	    .silence_s = timeout_s > 0 ? timeout_s : SILENCE_S,
	    .out = memfd_create("stdout", MFD_CLOEXEC),
	    .err = memfd_create("stderr", MFD_CLOEXEC)};
	int rc;

	*c = (struct child){0};
	rc = w.out < 0 || w.err < 0
	    ? err_fail_sys("cannot start '%s'", s->argv[0])
	    : run_child(&w, c);
	take_output(&c->out, w.out);
	take_output(&c->err, w.err);
	return rc;
}

void
child_free(struct child *c)
{
	watch_free(c->watch);
	servercounts_close(c->counts);
	str_free(&c->out);
	str_free(&c->err);
}

/* Adds the end of an output, from the beginning of a line. */
static void
append_tail(struct str *to, const struct str *from)
{
	size_t n = from->len, at, first;
	char *text;

	while (n && strchr(" \t\r\n", from->s[n - 1]))
		n--;
	first = at = n > LAST_WORDS ? n - LAST_WORDS : 0;
	while (at && at < n && from->s[at - 1] != '\n')
		at++;
	if (at == n)
		at = first; /* it is one long line */
	text = mem_strn(from->s + at, n - at);
	for (char *p = text; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = *p == '\n' ? '|' : ' ';
	str_visible(to, text);
	free(text);
}

char *
child_describe_end(const struct child *c, const char *name)
{
	struct str s = {0};
	char how[80];

	str_printf(&s, "%s %s", name, proc_ended(c->status, how, sizeof how));
	if (c->err.len || c->out.len) {
		str_add(&s, ": ");
		append_tail(&s, c->err.len ? &c->err : &c->out);
	} else
		str_add(&s, " and printed nothing");
	return str_take(&s);
}
