/*
 * Preloaded into a server that runs under callgrind, so that it executes the
 * same instructions in every run: time stands still, random numbers are a fixed
 * stream, the process id is a constant, and strings are compared and copied
 * without regard to where pages end. Waiting never times out; while the server
 * waits it obeys a control socket, which starts the counting and writes what
 * was counted. Uses nothing but libc.
 *
 * VKB_STILL_SEED chooses the random numbers, VKB_STILL_CONTROL is the path of
 * the control socket. Each connection to it carries one byte: 'i' starts the
 * counting, 'd' writes a dump and begins the next one; the answer is the same
 * byte, once that is done, and '?' for any other.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
	int fd = accept4(control, NULL, NULL, SOCK_CLOEXEC);
	char c = 0;

	if (fd < 0 || read(fd, &c, 1) != 1)
		c = 0;
	if (c == 'd')
		ask_callgrind(DUMP_STATS);
	else if (c == 'i')
		ask_callgrind(START_INSTRUMENTATION);
	else
		c = '?';
	if (fd >= 0) {
		(void)!write(fd, &c, 1);
		close(fd);
	}
}

/* The control socket has its turn when the server has nothing to do. */
static int
wait_for_events(int epoll)
{
	struct pollfd fd[2] = {
	    {.fd = epoll, .events = POLLIN}, {.fd = -1, .events = POLLIN}};

	if (syscall(SYS_gettid) == syscall(SYS_getpid)) {
		if (control < 0)
			open_control();
		fd[1].fd = control;
	}
	for (;;) {
		if (syscall(SYS_ppoll, fd, 2UL, NULL, NULL, 0UL) < 0)
			return -1;
		if (fd[0].revents)
			return 0;
		obey_command();
	}
}

/*
 * One event at a time: whether two come together depends on the machine, and
 * what the server does after each call it would then do once for both.
 */
int
epoll_pwait(
    int epoll, struct epoll_event *v, int n, int ms, const sigset_t *set)
{
	(void)n;
	if (ms && wait_for_events(epoll) < 0)
		return -1;
	return (int)syscall(SYS_epoll_pwait, epoll, v, 1, 0, set, 8UL);
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

/* --- strings: what they execute depends on their contents alone */

struct word {
	uint64_t x;
} __attribute__((packed, may_alias));

enum { WORD = sizeof(struct word) };

static int
fold_case(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

size_t
strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

size_t
strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

int
strncmp(const char *a, const char *b, size_t n)
{
	for (; n; a++, b++, n--)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

int
strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

int
strncasecmp(const char *a, const char *b, size_t n)
{
	int d;

	for (; n; a++, b++, n--) {
		d = fold_case((unsigned char)*a) - fold_case((unsigned char)*b);
		if (d || !*a)
			return d;
	}
	return 0;
}

int
strcasecmp(const char *a, const char *b)
{
	return strncasecmp(a, b, SIZE_MAX);
}

char *
strchrnul(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return (char *)(uintptr_t)s;
}

char *
strchr(const char *s, int c)
{
	char *p = strchrnul(s, c);

	return *p == (char)c ? p : NULL;
}

char *
strrchr(const char *s, int c)
{
	const char *found = NULL;

	for (;; s++) {
		if (*s == (char)c)
			found = s;
		if (!*s)
			return (char *)(uintptr_t)found;
	}
}

void *
memchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	for (; n; p++, n--)
		if (*p == (unsigned char)c)
			return (void *)(uintptr_t)p;
	return NULL;
}

void *
memrchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	while (n--)
		if (p[n] == (unsigned char)c)
			return (void *)(uintptr_t)(p + n);
	return NULL;
}

int
memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n >= WORD; p += WORD, q += WORD, n -= WORD)
		if (((const struct word *)p)->x != ((const struct word *)q)->x)
			break;
	for (; n; p++, q++, n--)
		if (*p != *q)
			return *p - *q;
	return 0;
}

int
bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}

void *
memcpy(void *restrict to, const void *restrict from, size_t n)
{
	unsigned char *p = to;
	const unsigned char *q = from;

	for (; n >= WORD; p += WORD, q += WORD, n -= WORD)
		((struct word *)p)->x = ((const struct word *)q)->x;
	while (n--)
		*p++ = *q++;
	return to;
}

void *
mempcpy(void *restrict to, const void *restrict from, size_t n)
{
	return (char *)memcpy(to, from, n) + n;
}

/* Forwards where that is right: memcpy is, as it reads before it writes. */
void *
memmove(void *to, const void *from, size_t n)
{
	unsigned char *p = to;
	const unsigned char *q = from;

	if ((uintptr_t)to - (uintptr_t)from >= n)
		return memcpy(to, from, n);
	for (; n >= WORD; n -= WORD)
		((struct word *)(p + n - WORD))->x =
		    ((const struct word *)(q + n - WORD))->x;
	while (n--)
		p[n] = q[n];
	return to;
}

void *
memset(void *to, int c, size_t n)
{
	unsigned char *p = to;
	uint64_t x = (unsigned char)c * UINT64_C(0x0101010101010101);

	for (; n >= WORD; p += WORD, n -= WORD)
		((struct word *)p)->x = x;
	while (n--)
		*p++ = (unsigned char)c;
	return to;
}
