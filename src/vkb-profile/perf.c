#include "perf.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "proc.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Attaching to many threads on many cores, and writing samples, takes long. */
enum { CONTROL_MS = 30000, END_MS = 120000 };

enum { ARGS = 64 };

struct perf {
	struct proc *proc;
	const char *what; /* "record" or "stat", for messages; borrowed */
	int control;      /* our end of the --control socket */
	int out;          /* memfd with its output */
	struct str text;
};

/* Starts perf, which answers through 'theirs'. Returns NULL after reporting an
 * error. */
static struct proc *
launch_perf(const char *const *args, int theirs, int out)
{
	const char *argv[ARGS] = {"perf"};
	const struct proc_spec spec = {.argv = argv,
	    .setenv = proc_plain,
	    .in = PROC_NULL,
	    .out = out,
	    .err = out,
	    .group = true,
	    .death_signal = SIGTERM};
	char control[64];
	size_t n = 1;

	snprintf(control, sizeof control, "--control=fd:%d,%d", theirs, theirs);
	for (size_t i = 0; args[i] && n < ARGS - 3; i++)
		argv[n++] = args[i];
	argv[n++] = control;
	argv[n++] = "--delay=-1"; /* wait for "enable" */
	return proc_start(&spec);
}

struct perf *
perf_start(const char *what, const char *const *args)
{
	struct perf *p = mem_new(sizeof *p);
	int fds[2] = {-1, -1};

	p->what = what;
	p->out = memfd_create("perf", MFD_CLOEXEC);
	if (p->out < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
	    fcntl(fds[1], F_SETFD, 0) < 0)
		err_fail_sys("cannot start perf");
	else
		p->proc = launch_perf(args, fds[1], p->out);
	p->control = fds[0];
	if (fds[1] >= 0)
		close(fds[1]);
	if (p->proc)
		return p;
	perf_free(p);
	return NULL;
}

void
perf_free(struct perf *p)
{
	if (!p)
		return;
	if (p->proc) {
		proc_signal(p->proc, SIGINT);
		proc_wait(p->proc, 2000, NULL);
	}
	proc_free(p->proc);
	if (p->control >= 0)
		close(p->control);
	if (p->out >= 0)
		close(p->out);
	str_free(&p->text);
	free(p);
}

int
perf_fd(const struct perf *p)
{
	return proc_fd(p->proc);
}

const char *
perf_text(struct perf *p)
{
	str_add(&p->text, "");
	if (lseek(p->out, (off_t)p->text.len, SEEK_SET) >= 0)
		str_read(&p->text, p->out);
	return p->text.s;
}

/* Reports an error with the end of perf's output. Returns -1. */
static int
fail_with_output(struct perf *p, const char *how)
{
	const char *text = perf_text(p), *s = text;
	size_t n = strlen(text);

	while (n && strchr("\n ", text[n - 1]))
		n--;
	if (n > 1000)
		s += n - 1000;
	return err_fail("perf %s %s%s%.*s", p->what, how, n ? ":\n" : "",
	    (int)(n - (size_t)(s - text)), s);
}

int
perf_control(struct perf *p, bool on)
{
	const char *word = on ? "enable" : "disable";
	struct pollfd fd[2] = {{.fd = p->control, .events = POLLIN},
	    {.fd = proc_fd(p->proc), .events = POLLIN}};
	int64_t deadline = clock_ns() + CONTROL_MS * INT64_C(1000000);
	char answer[16], how[64];
	int left;

	snprintf(how, sizeof how, "does not answer '%s'", word);
	if (send(p->control, word, strlen(word), MSG_NOSIGNAL) < 0)
		return errno == EPIPE ? 1 : fail_with_output(p, how);
	while ((left = clock_left_ms(deadline)) > 0) {
		if (poll(fd, 2, left) <= 0)
			continue;
		if (fd[0].revents) {
			if (recv(p->control, answer, sizeof answer, 0) > 0)
				return 0;
			return 1;
		}
		if (fd[1].revents)
			return 1;
	}
	return fail_with_output(p, how);
}

int
perf_end(struct perf *p)
{
	char how[64];
	int status;

	proc_signal(p->proc, SIGINT);
	if (!proc_wait(p->proc, END_MS, &status)) {
		proc_stop(p->proc, 1000);
		return fail_with_output(p, "does not end");
	}
	/* A perf that was interrupted ends by SIGINT or with 130. */
	if ((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) ||
	    (WIFEXITED(status) &&
		(!WEXITSTATUS(status) || WEXITSTATUS(status) == 128 + SIGINT)))
		return 0;
	return fail_with_output(p, proc_ended(status, how, sizeof how));
}

char *
perf_version(void)
{
	static const char *const argv[] = {"perf", "--version", NULL};
	struct str s = {0};
	char *v = NULL;
	int status;

	if (proc_read(argv, false, 10000, &s, &status) < 0) {
		str_free(&s);
		return NULL;
	}
	if (status == 0 && s.s && str_starts(s.s, "perf version ")) {
		s.s[strcspn(s.s, "\n")] = '\0';
		v = mem_str(s.s + strlen("perf version "));
	} else
		err_say("unexpected output of 'perf --version': %s",
		    s.len ? s.s : "nothing");
	str_free(&s);
	return v;
}
