#include "halt.h"

#include "err.h"
#include "mem.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

struct halt {
	int epoll, signals, caller;
	int reason;
	bool tty;
};

static int
watch_fd(int epoll, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

struct halt *
halt_open(bool caller)
{
	struct halt *h = mem_new(sizeof *h);
	pid_t parent = getppid();
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	h->caller = -1;
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	h->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (h->epoll < 0 || h->signals < 0 ||
	    watch_fd(h->epoll, h->signals) < 0 ||
	    sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		goto bad;
	if (caller && parent > 1) {
		h->caller = (int)syscall(SYS_pidfd_open, parent, 0);
		if (h->caller < 0 || watch_fd(h->epoll, h->caller) < 0)
			goto bad;
		if (getppid() != parent)
			h->reason = HALT_CALLER;
	}
	return h;
bad:
	err_fail_sys("cannot watch for signals");
	halt_close(h);
	return NULL;
}

void
halt_close(struct halt *h)
{
	if (!h)
		return;
	if (h->caller >= 0)
		close(h->caller);
	if (h->signals >= 0)
		close(h->signals);
	if (h->epoll >= 0)
		close(h->epoll);
	free(h);
}

int
halt_fd(const struct halt *h)
{
	return h->epoll;
}

int
halt_reason(struct halt *h, bool *tty)
{
	struct signalfd_siginfo info;
	struct pollfd fd = {.fd = h->caller, .events = POLLIN};

	if (!h->reason && read(h->signals, &info, sizeof info) == sizeof info) {
		h->reason = (int)info.ssi_signo;
		h->tty = info.ssi_code == SI_KERNEL;
	}
	if (!h->reason && h->caller >= 0 && poll(&fd, 1, 0) > 0)
		h->reason = HALT_CALLER;
	if (tty)
		*tty = h->tty;
	return h->reason;
}

void
halt_raise(int reason)
{
	sigset_t set;

	if (reason <= 0)
		return;
	signal(reason, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, reason);
	raise(reason);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void
halt_finish(struct halt *h)
{
	int reason = h ? halt_reason(h, NULL) : 0;

	halt_close(h);
	halt_raise(reason);
}
