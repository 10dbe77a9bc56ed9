/*
 * Preloaded into a server that runs under callgrind, so that it executes the
 * same instructions in every run: time stands still, random numbers are a fixed
 * stream, the process id is a constant, and strings are compared and copied
 * without regard to where pages end (strings.c). Waiting never times out; while
 * the server waits it obeys a control socket, which starts the counting and
 * writes what was counted. Uses nothing but libc.
 *
 * VKB_STILL_SEED chooses the random numbers, VKB_STILL_CONTROL is the path of
 * the control socket. Each connection to it carries one byte: 'i' starts the
 * counting, 'd' writes a dump and begins the next one; the answer is the same
 * byte, once that is done, and '?' for any other.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	STILL_PID = 4711,
	STILL_TIME = 1700000000, /* seconds since 1970 */
	DEVICE_SIZE = 65536,     /* bytes of /dev/urandom for each opening */
};

/* --- requests to callgrind; numbers and code of valgrind.h, callgrind.h */

enum {
	CALLGRIND = 'C' << 24 | 'T' << 16,
	DUMP_STATS = CALLGRIND,
	START_INSTRUMENTATION = CALLGRIND + 4,
};

static void
ask_callgrind(unsigned long request)
{
	volatile unsigned long args[6] = {request};
#if defined __x86_64__
	unsigned long result = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "=d"(result)
			 : "a"(args), "0"(result)
			 : "cc", "memory");
#elif defined __aarch64__
	register unsigned long result __asm__("x3") = 0;
	register volatile unsigned long *first __asm__("x4") = args;

	__asm__ volatile("ror x12, x12, #3; ror x12, x12, #13\n\t"
			 "ror x12, x12, #51; ror x12, x12, #61\n\t"
			 "orr x10, x10, x10"
			 : "+r"(result)
			 : "r"(first)
			 : "cc", "memory");
#else
	(void)args;
#endif
}

/*
 * --- system calls of this library
 *
 * Made here rather than by libc, so that callgrind tells them from those of the
 * server by the object that makes them.
 */

static long
call_kernel(long number, long a, long b, long c, long d, long e)
{
#if defined __x86_64__
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile(
	    "syscall"
	    : "=a"(result)
	    : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
	    : "rcx", "r11", "memory");
	return result;
#elif defined __aarch64__
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
#else
	long result = syscall(number, a, b, c, d, e);

	return result < 0 ? -errno : result;
#endif
}

/* --- the control socket */

static int control = -1;

/* Not in a constructor: valgrind's own launcher loads this library too. */
static void
open_control(void)
{
	const char *path = getenv("VKB_STILL_CONTROL");
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (!path)
		return;
	if (strlen(path) >= sizeof a.sun_path) {
		fprintf(stderr, "vkb-still: '%s' is too long\n", path);
		_exit(2);
	}
	memcpy(a.sun_path, path, strlen(path));
	control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (control < 0 || bind(control, (struct sockaddr *)&a, sizeof a) < 0 ||
	    listen(control, 1) < 0) {
		fprintf(stderr, "vkb-still: cannot listen on '%s'\n", path);
		_exit(2);
	}
}

static void
obey_command(void)
{
	long fd = call_kernel(SYS_accept4, control, 0, 0, SOCK_CLOEXEC, 0);
	char c = 0;

	if (fd < 0 || call_kernel(SYS_read, fd, (long)&c, 1, 0, 0) != 1)
		c = 0;
	if (c == 'd')
		ask_callgrind(DUMP_STATS);
	else if (c == 'i')
		ask_callgrind(START_INSTRUMENTATION);
	else
		c = '?';
	if (fd >= 0) {
		call_kernel(SYS_write, fd, (long)&c, 1, 0, 0);
		call_kernel(SYS_close, fd, 0, 0, 0, 0);
	}
}

/* Waits for an event, and obeys the control socket meanwhile. */
static int
wait_for_events(int epoll)
{
	struct pollfd fd[2] = {
	    {.fd = epoll, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	long result;

	if (call_kernel(SYS_gettid, 0, 0, 0, 0, 0) ==
	    call_kernel(SYS_getpid, 0, 0, 0, 0, 0)) {
		if (control < 0)
			open_control();
		fd[1].fd = control;
	}
	for (;;) {
		result = call_kernel(SYS_ppoll, (long)fd, 2, 0, 0, 0);
		if (result < 0) {
			errno = (int)-result;
			return -1;
		}
		if (fd[0].revents)
			return 0;
		obey_command();
	}
}

/*
 * Returns at most one event. How many arrive together depends on the machine,
 * and the server does some work once for each call, not for each event.
 */
int
epoll_pwait(
    int epoll, struct epoll_event *v, int n, int ms, const sigset_t *set)
{
	static int (*next)(
	    int, struct epoll_event *, int, int, const sigset_t *);
	void *symbol;

	(void)n;
	if (!next) {
		symbol = dlsym(RTLD_NEXT, "epoll_pwait");
		memcpy(&next, &symbol, sizeof next);
	}
	if (ms && wait_for_events(epoll) < 0)
		return -1;
	/* By libc, so that it counts as the server's, and has its name. */
	return next(epoll, v, 1, 0, set);
}

int
epoll_wait(int epoll, struct epoll_event *v, int n, int ms)
{
	return epoll_pwait(epoll, v, n, ms, NULL);
}

/* --- time and process */

int
clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	*t = (struct timespec){.tv_sec = STILL_TIME};
	return 0;
}

int
gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	(void)zone;
	*t = (struct timeval){.tv_sec = STILL_TIME};
	return 0;
}

time_t
time(time_t *t)
{
	if (t)
		*t = STILL_TIME;
	return STILL_TIME;
}

pid_t
getpid(void)
{
	return STILL_PID;
}

/* --- random numbers: splitmix64 (Steele, Lea, Flood 2014) */

static uint64_t state;

__attribute__((constructor)) static void
seed_numbers(void)
{
	const char *seed = getenv("VKB_STILL_SEED");

	state = seed ? strtoull(seed, NULL, 10) : 0;
}

static unsigned char
draw_byte(void)
{
	uint64_t x = __atomic_add_fetch(
	    &state, UINT64_C(0x9e3779b97f4a7c15), __ATOMIC_RELAXED);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned char)(x >> 56);
}

ssize_t
getrandom(void *to, size_t n, unsigned flags)
{
	unsigned char *p = to;

	(void)flags;
	for (size_t i = 0; i < n; i++)
		p[i] = draw_byte();
	return (ssize_t)n;
}

int
getentropy(void *to, size_t n)
{
	getrandom(to, n, 0);
	return 0;
}

static int
is_random_device(const char *path)
{
	return strcmp(path, "/dev/urandom") == 0 ||
	    strcmp(path, "/dev/random") == 0;
}

/* Returns a descriptor from which the next random numbers can be read. */
static int
open_device(void)
{
	int fd = memfd_create("urandom", MFD_CLOEXEC);
	unsigned char bytes[DEVICE_SIZE];

	if (fd < 0)
		return -1;
	getrandom(bytes, sizeof bytes, 0);
	if (pwrite(fd, bytes, sizeof bytes, 0) != sizeof bytes) {
		close(fd);
		return -1;
	}
	return fd;
}

#define OPEN_MODE(flags)                       \
	mode_t mode = 0;                       \
	va_list ap;                            \
	va_start(ap, flags);                   \
	if ((flags) & (O_CREAT | __O_TMPFILE)) \
		mode = va_arg(ap, mode_t);     \
	va_end(ap)

int
open(const char *path, int flags, ...)
{
	OPEN_MODE(flags);
	return is_random_device(path)
	    ? open_device()
	    : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
	OPEN_MODE(flags);
	return open(path, flags, mode);
}

static FILE *
open_stream(const char *name, const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *);
	void *symbol = dlsym(RTLD_NEXT, name);

	if (is_random_device(path))
		return fdopen(open_device(), mode);
	memcpy(&next, &symbol, sizeof next);
	return next(path, mode);
}

FILE *
fopen(const char *path, const char *mode)
{
	return open_stream("fopen", path, mode);
}

FILE *
fopen64(const char *path, const char *mode)
{
	return open_stream("fopen64", path, mode);
}
