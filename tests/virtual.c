/*
 * A clock of its own for a load, by LD_PRELOAD: from the first connection on it
 * moves only where the load waits for its begin, or for a time while no request
 * is unanswered, and with each reply by the time that follows from the number
 * in the last key that was sent (key:N). So when a request is sent, and its
 * latency, depend on the load alone, not on the machine. With VIRTUAL_LOG,
 * replies take no time, and the file of that name gets what is sent: time in
 * ns, descriptor, bytes in hexadecimal.
 *
 * A timeout of the load never passes while the clock does not move, so a load
 * whose test has gone away would run for ever: a signal ends it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FDS 4096
#define NS INT64_C(1000000000)
#define SECONDS_MOST 120 /* of the real clock; a load here takes a few */

static atomic_llong stopped_at, moved; /* of the real clock; since then */
static long long apart;                /* of that clock from the date */
static struct {
	bool is_ours, waits; /* of the load; for a connection or a reply */
	long cost_ns;
} fds[FDS];
static atomic_bool has_begun;
static FILE *file;

__attribute__((constructor)) static void
limit_time(void)
{
	alarm(SECONDS_MOST);
}

static long long
get_real(clockid_t id)
{
	struct timespec t;

	syscall(SYS_clock_gettime, id, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

int
clock_gettime(clockid_t id, struct timespec *t)
{
	long long now = get_real(id);

	if (stopped_at && (id == CLOCK_MONOTONIC || id == CLOCK_REALTIME))
		now = stopped_at + moved + (id == CLOCK_REALTIME ? apart : 0);
	t->tv_sec = now / NS;
	t->tv_nsec = now % NS;
	return 0;
}

int
epoll_ctl(int ep, int op, int fd, struct epoll_event *e)
{
	const char *name = getenv("VIRTUAL_LOG");

	if (op == EPOLL_CTL_ADD && fd < FDS) {
		fds[fd].is_ours = fds[fd].waits = true;
		if (!stopped_at) {
			stopped_at = get_real(CLOCK_MONOTONIC);
			apart = get_real(CLOCK_REALTIME) - stopped_at;
		}
		if (name && !file)
			file = fopen(name, "w");
	}
	return (int)syscall(SYS_epoll_ctl, ep, op, fd, e);
}

static bool
is_waiting(void)
{
	for (int i = 0; i < FDS; i++)
		if (fds[i].waits)
			return true;
	return false;
}

/* The main thread lets the others begin. */
int
pthread_cond_broadcast(pthread_cond_t *c)
{
	int (*real)(pthread_cond_t *) =
	    (int (*)(pthread_cond_t *))dlsym(RTLD_NEXT, __func__);

	if (stopped_at && syscall(SYS_gettid) == getpid())
		has_begun = true;
	return real(c);
}

int
pthread_cond_timedwait(
    pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	long long to;

	(void)c; /* a caller looks itself what has changed */
	pthread_mutex_unlock(m);
	nanosleep(&pause, NULL);
	to = t->tv_sec * NS + t->tv_nsec - stopped_at;
	if (stopped_at && !has_begun && !is_waiting() && to > moved)
		moved = to;
	pthread_mutex_lock(m);
	return ETIMEDOUT;
}

static int
wait_virtual(int ep, struct epoll_event *e, int n, long long ns)
{
	bool waits = is_waiting();
	int got = epoll_pwait(ep, e, n, waits ? 1000 : 0, NULL);

	if (got == 0 && !waits)
		moved += ns > 0 ? ns : 1; /* no clock stands still */
	return got;
}

int
epoll_wait(int ep, struct epoll_event *e, int n, int ms)
{
	return wait_virtual(ep, e, n, ms * (NS / 1000));
}

int
epoll_pwait2(int ep, struct epoll_event *e, int n, const struct timespec *t,
    const sigset_t *set)
{
	(void)set;
	return wait_virtual(ep, e, n, t->tv_sec * NS + t->tv_nsec);
}

int
getsockopt(int fd, int level, int what, void *value, socklen_t *n)
{
	if (fd < FDS)
		fds[fd].waits = false; /* asked whether it is connected */
	return (int)syscall(SYS_getsockopt, fd, level, what, value, n);
}

/* Each of 3001 keys has another cost; those in the middle, the extreme ones. */
static long
find_cost(long key)
{
	return 1000 + (key * 1709 + 1500) % 3001 * 300;
}

ssize_t
send(int fd, const void *p, size_t n, int flags)
{
	const char *key = memmem(p, n, "key:", 4);
	ssize_t sent = syscall(SYS_sendto, fd, p, n, flags, NULL, 0);

	if (fd >= FDS || !fds[fd].is_ours)
		return sent;
	fds[fd].waits = true;
	fds[fd].cost_ns = key && !file ? find_cost(atol(key + 4)) : 0;
	if (!file || sent <= 0)
		return sent;
	fprintf(file, "%lld %d ", (long long)moved, fd);
	for (ssize_t i = 0; i < sent; i++)
		fprintf(file, "%02x", ((const unsigned char *)p)[i]);
	fputc('\n', file);
	return sent;
}

ssize_t
recv(int fd, void *p, size_t n, int flags)
{
	ssize_t got = syscall(SYS_recvfrom, fd, p, n, flags, NULL, NULL);

	if (fd < FDS && fds[fd].is_ours && (got >= 0)) {
		fds[fd].waits = false;
		moved += fds[fd].cost_ns;
	}
	return got;
}
