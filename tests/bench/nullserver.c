/*
 * nullserver: answers each complete command with the same reply at once, so
 * that a client is all there is to measure. Prints its port, then serves until
 * it is killed or stdin ends.
 */
#include "err.h"
#include "mem.h"
#include "opt.h"
#include "vkb-load/engine/scan.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define IN (256 * 1024)
#define OUT (256 * 1024) /* bytes of replies at hand, at least one */

struct opts {
	const char *unixsocket;
	long long bulk;
};

static const struct opt table[] = {
    {'s', "socket", OPT_STR, offsetof(struct opts, unixsocket), "PATH",
	.help = "listen there instead of on a port"},
    {'b', "bulk", OPT_INT, offsetof(struct opts, bulk), "N", .min = 0,
	.max = 1e8, .help = "answer with a bulk of N bytes, 0: with +OK"},
    {0}};

struct peer {
	int fd;
	bool waits; /* for room to write */
	struct scan scan;
	uint64_t owed; /* bytes of whole replies still to be written */
};

struct server {
	int ep;
	char *in, *out;
	size_t reply, nout; /* bytes of one, of all in 'out' */
};

static void
no_error(void *arg, const char *line, uint32_t nth)
{
	(void)arg;
	(void)line;
	(void)nth;
}

static void
drop(struct peer *p)
{
	close(p->fd);
	free(p);
}

/* -1 when the peer is gone. */
static int
answer(struct server *s, struct peer *p)
{
	size_t at, n;
	ssize_t k;

	while (p->owed) {
		at = (s->reply - p->owed % s->reply) % s->reply;
		n = s->nout - at < p->owed ? s->nout - at : (size_t)p->owed;
		k = send(p->fd, s->out + at, n, MSG_NOSIGNAL);
		if (k < 0 && errno == EAGAIN)
			break;
		if (k < 0)
			return -1;
		p->owed -= (uint64_t)k;
	}
	if (p->waits != (p->owed > 0)) {
		struct epoll_event e = {.data.ptr = p,
		    .events = p->owed ? EPOLLIN | EPOLLOUT : EPOLLIN};

		p->waits = p->owed > 0;
		epoll_ctl(s->ep, EPOLL_CTL_MOD, p->fd, &e);
	}
	return 0;
}

static int
take(struct server *s, struct peer *p)
{
	struct scan_counters t = {0};
	ssize_t n = recv(p->fd, s->in, IN, 0);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0 ||
	    scan_feed(
		&p->scan, s->in, (size_t)n, UINT32_MAX, &t, no_error, NULL) < 0)
		return -1;
	p->owed += (uint64_t)t.replies * s->reply;
	return answer(s, p);
}

static void
welcome(struct server *s, int listener)
{
	struct peer *p = mem_new(sizeof *p);
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = p};
	int on = 1;

	p->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (p->fd < 0) {
		free(p);
		return;
	}
	setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	epoll_ctl(s->ep, EPOLL_CTL_ADD, p->fd, &e);
}

static int
listen_on(const char *path)
{
	struct sockaddr_un u = {.sun_family = AF_UNIX};
	struct sockaddr_in a = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int fd =
	    socket(path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (path && strlen(path) >= sizeof u.sun_path)
		err_die("'%s' is too long for a socket", path);
	if (path)
		memcpy(u.sun_path, path, strlen(path));
	if (fd < 0 ||
	    bind(fd, path ? (struct sockaddr *)&u : (struct sockaddr *)&a,
		path ? sizeof u : sizeof a) < 0 ||
	    listen(fd, 1024) < 0)
		err_die("cannot listen: %s", strerror(errno));
	if (!path && getsockname(fd, (struct sockaddr *)&a, &n) == 0)
		printf("%d\n", ntohs(a.sin_port));
	else
		puts("0");
	fflush(stdout);
	return fd;
}

static void
make_replies(struct server *s, size_t bulk)
{
	char *one = bulk ? mem_new(bulk + 32) : mem_str("+OK\r\n");
	size_t i, n;

	if (bulk) {
		n = (size_t)sprintf(one, "$%zu\r\n", bulk);
		memset(one + n, 'x', bulk);
		memcpy(one + n + bulk, "\r\n", 3);
	}
	s->reply = strlen(one);
	n = OUT / s->reply + 1;
	s->nout = n * s->reply;
	s->out = mem_array(n, s->reply);
	for (i = 0; i < n; i++)
		memcpy(s->out + i * s->reply, one, s->reply);
	free(one);
}

int
main(int argc, char **argv)
{
	static const struct opt_prog prog = {.name = "nullserver",
	    .operands = "",
	    .purpose = "answers at once",
	    .table = table};
	struct epoll_event e[64], in = {.events = EPOLLIN};
	struct opts o = {0};
	struct opt_args args;
	struct server s = {0};
	int rc, n, i, listener, end = -1;

	err_init(argv[0]);
	rc = opt_parse(&prog, argc, argv, &o, &args);
	if (rc)
		return rc < 0 ? 2 : 0;
	make_replies(&s, (size_t)o.bulk);
	s.in = mem_new(IN);
	s.ep = epoll_create1(EPOLL_CLOEXEC);
	listener = listen_on(o.unixsocket);
	in.data.ptr = &listener;
	epoll_ctl(s.ep, EPOLL_CTL_ADD, listener, &in);
	in.data.ptr = &end;
	epoll_ctl(s.ep, EPOLL_CTL_ADD, STDIN_FILENO, &in);
	for (;;) {
		n = epoll_wait(s.ep, e, 64, -1);
		for (i = 0; i < n; i++) {
			if (e[i].data.ptr == &end)
				return 0;
			if (e[i].data.ptr == &listener)
				welcome(&s, listener);
			else if ((e[i].events & EPOLLOUT &&
				     answer(&s, e[i].data.ptr) < 0) ||
			    (e[i].events & ~(uint32_t)EPOLLOUT &&
				take(&s, e[i].data.ptr) < 0))
				drop(e[i].data.ptr);
		}
	}
}
