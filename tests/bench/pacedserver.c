/*
 * pacedserver: a server whose capacity is known. It has one queue and serves
 * RATE requests per second: each takes 1/RATE s from when the one before it is
 * done, or from its arrival less BURST, so that pauses of the machine up to
 * BURST cost no capacity. INFO and FLUSHALL are answered at once. Prints its
 * port, then serves until it is killed or stdin ends; with -n it ends after so
 * many requests.
 */
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "opt.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PEERS = 1024, IN = 65536 };

struct opts {
	double rate, burst_s;
	long long requests;
};

static const struct opt table[] = {
    {'r', "rate", OPT_REAL, offsetof(struct opts, rate), "N", .min = 1,
	.max = 1e6, .help = "serve N requests per second"},
    {'b', "burst", OPT_DURATION, offsetof(struct opts, burst_s), "TIME",
	.min = 0, .max = 10, .help = "make up for pauses of TIME"},
    {'n', "requests", OPT_INT, offsetof(struct opts, requests), "N", .min = 0,
	.max = 1e15, .help = "end after N requests"},
    {0}};

struct peer {
	int fd; /* 0: free */
	size_t n;
	uint64_t born; /* replies of an earlier peer are dropped */
	char in[IN];
};

struct due {
	int64_t at;
	struct peer *to;
	uint64_t born;
};

struct server {
	const struct opts *o;
	int ep;
	struct peer *peers;
	struct due *v; /* in order of time */
	size_t first, n, cap;
	int64_t last; /* when the request before is done */
	uint64_t born;
	long long served;
};

static void
send_text(const struct peer *p, const char *text)
{
	if (send(p->fd, text, strlen(text), MSG_NOSIGNAL) < 0 && errno == EPIPE)
		return; /* the next read tells */
}

/*
 * Returns the bytes of a whole command at 'at', 0 if it is not whole yet. Sets
 * *name to its first word.
 */
static size_t
parse_command(const char *at, size_t n, const char **name)
{
	const char *end = at + n, *p = at;
	long words, bytes;
	char *rest;

	if (!memchr(at, '\n', n) || *p != '*')
		return 0;
	words = strtol(p + 1, &rest, 10);
	p = rest + 2;
	*name = NULL;
	for (; words; words--) {
		if (p >= end || !memchr(p, '\n', (size_t)(end - p)))
			return 0;
		bytes = strtol(p + 1, &rest, 10);
		p = rest + 2;
		*name = *name ? *name : p;
		p += bytes + 2;
		if (p > end)
			return 0;
	}
	return (size_t)(p - at);
}

static void
serve_command(struct server *s, struct peer *p, const char *name)
{
	static const char info[] =
	    "# Server\r\nredis_version:7.2.4\r\nredis_mode:standalone\r\n"
	    "loading:0\r\nprocess_id:0\r\n";
	char text[300];
	int64_t now = clock_ns(), from = now - (int64_t)(s->o->burst_s * 1e9);

	if (strncmp(name, "INFO", 4) == 0) {
		snprintf(
		    text, sizeof text, "$%zu\r\n%s\r\n", strlen(info), info);
		send_text(p, text);
	} else if (strncmp(name, "SET", 3) != 0) {
		send_text(p,
		    strncmp(name, "FLUSHALL", 8) == 0
			? "+OK\r\n"
			: "-ERR unknown command\r\n");
	} else {
		s->last = (s->last > from ? s->last : from) +
		    (int64_t)(1e9 / s->o->rate);
		s->v = mem_grow(s->v, s->n, &s->cap, sizeof *s->v);
		s->v[s->n++] = (struct due){s->last, p, p->born};
	}
}

static void
read_peer(struct server *s, struct peer *p)
{
	ssize_t k = recv(p->fd, p->in + p->n, IN - p->n, MSG_DONTWAIT);
	size_t at = 0, len;
	const char *name;

	if (k <= 0) {
		if (k < 0 && errno == EAGAIN)
			return;
		close(p->fd);
		p->fd = 0;
		return;
	}
	p->n += (size_t)k;
	while (at < p->n &&
	    (len = parse_command(p->in + at, p->n - at, &name)) > 0) {
		serve_command(s, p, name);
		at += len;
	}
	memmove(p->in, p->in + at, p->n - at);
	p->n -= at;
}

static void
accept_peer(struct server *s, int listener)
{
	struct peer *p = s->peers;
	struct epoll_event e = {.events = EPOLLIN};
	int on = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	while (p < s->peers + PEERS && p->fd)
		p++;
	if (fd < 0 || p == s->peers + PEERS)
		err_die("too many connections");
	p->fd = fd;
	p->n = 0;
	p->born = ++s->born;
	e.data.ptr = p;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	epoll_ctl(s->ep, EPOLL_CTL_ADD, fd, &e);
}

/* Answers what is due. Returns how long until the next, in ns; -1: none is. */
static int64_t
answer_due(struct server *s)
{
	struct due *d;
	int64_t now = clock_ns();

	for (; s->first < s->n; s->first++) {
		d = &s->v[s->first];
		if (d->at > now)
			return d->at - now;
		if (d->to->fd && d->to->born == d->born)
			send_text(d->to, "+OK\r\n");
		if (++s->served == s->o->requests)
			exit(0);
	}
	s->first = s->n = 0;
	return -1;
}

static int
listen_on_port(void)
{
	struct sockaddr_in a = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, n) < 0 ||
	    listen(fd, PEERS) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		err_die("cannot listen: %s", strerror(errno));
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	return fd;
}

int
main(int argc, char **argv)
{
	static const struct opt_prog prog = {.name = "pacedserver",
	    .operands = "",
	    .purpose = "answers at a known rate",
	    .table = table};
	struct epoll_event e[64], in = {.events = EPOLLIN};
	struct opts o = {.rate = 1000};
	struct server s = {.o = &o};
	struct opt_args args;
	struct timespec t;
	int64_t wait;
	int rc, n, listener, end;

	err_init(argv[0]);
	rc = opt_parse(&prog, argc, argv, &o, &args);
	if (rc)
		return rc < 0 ? 2 : 0;
	prctl(PR_SET_TIMERSLACK, 1);
	s.peers = mem_array(PEERS, sizeof *s.peers);
	s.ep = epoll_create1(EPOLL_CLOEXEC);
	listener = listen_on_port();
	in.data.ptr = &listener;
	epoll_ctl(s.ep, EPOLL_CTL_ADD, listener, &in);
	in.data.ptr = &end;
	epoll_ctl(s.ep, EPOLL_CTL_ADD, STDIN_FILENO, &in);
	for (;;) {
		wait = answer_due(&s);
		t = (struct timespec){wait / 1000000000, wait % 1000000000};
		n = epoll_pwait2(s.ep, e, 64, wait < 0 ? NULL : &t, NULL);
		for (int i = 0; i < n; i++) {
			if (e[i].data.ptr == &end)
				return 0;
			if (e[i].data.ptr == &listener)
				accept_peer(&s, listener);
			else
				read_peer(&s, e[i].data.ptr);
		}
	}
}
