#include "clock.h"
#include "mem.h"
#include "run.h"
#include "slotmap.h"
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * TCP is watched edge-triggered for both directions from the start: the kernel
 * reports writability only after a write was short, so nothing has ever to be
 * changed. A unix socket would report it after each read of the server, so it
 * is added when first needed. TLS is level-triggered, since OpenSSL reads
 * parts of what is there.
 */
static void
watch(struct worker *w, struct conn *c, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = c};

	if (c->events == events)
		return;
	if (epoll_ctl(w->ep, c->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd,
		&e) < 0)
		err_die("epoll_ctl: %s", strerror(errno));
	c->events = events;
}

static uint32_t
base_events(const struct conn *c)
{
	if (c->tls)
		return EPOLLIN;
	if (c->node->unixsocket)
		return EPOLLIN | EPOLLRDHUP | EPOLLET;
	return EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
}

bool
conn_waits(const struct conn *c)
{
	return c->rest_at < c->nrest || c->nend;
}

static void
wait_writable(struct worker *w, struct conn *c)
{
	watch(w, c, base_events(c) | EPOLLOUT);
}

void
conn_close(struct worker *w, struct conn *c)
{
	tls_free(c->tls);
	c->tls = NULL;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	if (c->awaited && c->state == CONN_READY)
		w->busy--;
	if (c->state == CONN_READY)
		w->nready--;
	c->state = CONN_DOWN;
	c->events = 0;
	c->awaited = c->refills = 0;
	c->nrest = c->rest_at = c->nend = 0;
	c->todo = 0;
	memset(&c->scan, 0, sizeof c->scan);
}

void
conn_lost(struct worker *w, struct conn *c, const char *why, int64_t now)
{
	struct run *r = w->run;
	char text[192];

	snprintf(text, sizeof text, "%s: %s", c->node->name, why);
	if (c->state != CONN_READY && c->state != CONN_DOWN && !r->go) {
		run_fail(r, "cannot connect to '%s': %s", c->node->name, why);
		return;
	}
	if (c->state == CONN_READY) {
		if (r->strict) {
			run_fail(r, "connection lost to '%s': %s",
			    c->node->name, why);
			return;
		}
		worker_error(w, "connection lost", text);
		if (c->counted && c->awaited > c->refills)
			w->returned += c->awaited - c->refills;
		c->down_ns = now;
	}
	if (r->target->cluster) /* another may have taken its place */
		run_stale(r);
	conn_close(w, c);
	c->retry_ns = now + 100000000;
}

static int
unix_connect(const char *path)
{
	static const struct timeval second = {1, 0}, none = {0, 0};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof a.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(a.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* Blocking for the moment: a full backlog is no error. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none) < 0 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * A batch this large is not given to the kernel whole: what lies in the send
 * buffers of all connections is to stay in the cache until the server reads
 * it. On the null server, 16 KB values at pipeline 100 cost a third less.
 */
enum { BATCH_LARGE = 512 * 1024, SEND_ROOM = 128 * 1024 };

static int
tcp_connect(const char *host, int port, size_t batch, const char **why)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list, *a;
	char service[16];
	int fd = -1, on = 1, room = SEND_ROOM, e = 0;

	snprintf(service, sizeof service, "%d", port);
	e = getaddrinfo(host, service, &hints, &list);
	if (e) {
		*why = gai_strerror(e);
		errno = EHOSTUNREACH;
		return -1;
	}
	for (a = list; a; a = a->ai_next) {
		fd = socket(a->ai_family,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (fd < 0) {
			e = errno;
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		if (batch > BATCH_LARGE)
			setsockopt(
			    fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
		if (connect(fd, a->ai_addr, a->ai_addrlen) == 0 ||
		    errno == EINPROGRESS)
			break;
		e = errno;
		close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	errno = e;
	return fd;
}

static void setup(struct worker *, struct conn *, int64_t);

void
conn_open(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	const char *why = NULL;

	if (c->next)
		c->node = c->next;
	c->next = NULL;
	c->course.turn = 0;
	c->state = CONN_CONNECTING;
	c->fd = c->node->unixsocket
	    ? unix_connect(c->node->unixsocket)
	    : tcp_connect(c->node->host, c->node->port,
		  r->pipeline * (size_t)r->command->len, &why);
	if (c->fd < 0) {
		conn_lost(w, c, why ? why : strerror(errno), now);
		return;
	}
	c->scan.zero_miss = r->command->zero_miss;
	c->last_ns = now;
	if (r->tls)
		c->tls = tls_new(r->tls, c->fd, r->target->servername);
	wait_writable(w, c);
}

static void
tls_step(struct worker *w, struct conn *c, int64_t now)
{
	if (tls_handshake(c->tls) == 0) {
		setup(w, c, now);
		return;
	}
	if (errno != EAGAIN) {
		conn_lost(w, c, tls_error(c->tls), now);
		return;
	}
	watch(w, c, tls_events(c->tls) & POLLOUT ? EPOLLOUT : EPOLLIN);
}

static void
connected(struct worker *w, struct conn *c, int64_t now)
{
	int e = 0;
	socklen_t n = sizeof e;

	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &n) < 0)
		e = errno;
	if (e) {
		conn_lost(w, c, strerror(e), now);
		return;
	}
	if (!c->tls) {
		setup(w, c, now);
		return;
	}
	c->state = CONN_TLS;
	tls_step(w, c, now);
}

/* Keeps what a write left, to be sent when the socket can take it. */
static void
keep(struct conn *c, const char *p, size_t n)
{
	if (!n)
		return;
	if (c->rest_at == c->nrest)
		c->rest_at = c->nrest = 0;
	if (c->nrest + n > c->rest_cap) {
		c->rest_cap = c->nrest + n;
		c->rest = mem_resize(c->rest, c->rest_cap, 1);
	}
	memcpy(c->rest + c->nrest, p, n);
	c->nrest += n;
}

/* How much was sent: all, or less when the socket is full; -1 when lost. */
static ssize_t
put(struct worker *w, struct conn *c, const struct iovec *iov, int n,
    int64_t now)
{
	struct msghdr m = {
	    .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n};
	ssize_t k;

	do {
		if (c->tls)
			k = tls_write(c->tls, iov->iov_base, iov->iov_len);
		else if (n == 1)
			k = send(
			    c->fd, iov->iov_base, iov->iov_len, MSG_NOSIGNAL);
		else
			k = sendmsg(c->fd, &m, MSG_NOSIGNAL);
	} while (k < 0 && errno == EINTR);
	if (k >= 0)
		return k;
	if (errno == EAGAIN)
		return 0;
	conn_lost(w, c, c->tls ? tls_error(c->tls) : strerror(errno), now);
	return -1;
}

/* As put, where TLS takes one piece at a time. */
static ssize_t
put_all(struct worker *w, struct conn *c, const struct iovec *iov, int n,
    int64_t now)
{
	struct iovec part;
	size_t done = 0, at;
	ssize_t k;
	int i;

	if (!c->tls)
		return put(w, c, iov, n, now);
	for (i = 0; i < n; i++)
		for (at = 0; at < iov[i].iov_len; at += (size_t)k) {
			part = (struct iovec){
			    (char *)iov[i].iov_base + at, iov[i].iov_len - at};
			k = put(w, c, &part, 1, now);
			if (k <= 0)
				return k < 0 ? k : (ssize_t)done;
			done += (size_t)k;
		}
	return (ssize_t)done;
}

/* All of 'iov', now or later. */
static void
put_or_keep(struct worker *w, struct conn *c, const struct iovec *iov, int n,
    int64_t now)
{
	size_t done, skip;
	ssize_t k = 0;
	int i;

	if (!conn_waits(c)) /* otherwise behind what waits already */
		k = put_all(w, c, iov, n, now);
	if (k < 0)
		return;
	for (i = 0, skip = (size_t)k; i < n; i++) {
		done = skip < iov[i].iov_len ? skip : iov[i].iov_len;
		skip -= done;
		if (done < iov[i].iov_len)
			keep(c, (char *)iov[i].iov_base + done,
			    iov[i].iov_len - done);
	}
	if (conn_waits(c))
		wait_writable(w, c);
}

/*
 * The same for 'len' bytes of the batch. Of the last command the constant end
 * (the value) is not copied, so that many connections do not hold as many large
 * values. TLS wants to see the same bytes in one piece again.
 */
static void
put_batch(struct worker *w, struct conn *c, size_t len, int64_t now)
{
	const struct command *cmd = w->run->command;
	struct iovec iov = {w->batch, len};
	size_t left, end = c->tls ? 0 : cmd->len - cmd->constant;
	ssize_t k = put_all(w, c, &iov, 1, now);

	if (k < 0 || (size_t)k == iov.iov_len)
		return;
	left = iov.iov_len - (size_t)k;
	if (end > left)
		end = left;
	keep(c, w->batch + k, left - end);
	c->end = cmd->bytes + cmd->len - end;
	c->nend = end;
	wait_writable(w, c);
}

/*
 * Makes and sends the batch in slices that stay in the cache, until all is
 * sent or the socket is full. Refills follow the last one.
 */
static void
pump(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	const struct command *cmd = r->command;
	struct iovec iov[2];
	uint32_t n;
	size_t len;

	while (c->todo && !conn_waits(c) && c->state == CONN_READY) {
		n = c->todo < w->slice ? c->todo : w->slice;
		len = n * cmd->len;
		if (r->template)
			n = template_make(r->template, &c->course,
			    &c->node->keys, w->batch, c->todo, RUN_SLICE, &len);
		else
			command_fill(cmd, w->batch, n, &c->node->keys, &w->rng,
			    c->sequence, &w->turn);
		c->todo -= n;
		if (c->todo || !c->refills) {
			put_batch(w, c, len, now);
			continue;
		}
		iov[0] = (struct iovec){w->batch, n * cmd->len};
		command_fill(r->refill, w->refill, c->refills,
		    w->refill_keys + (c->node - w->map->nodes), &w->rng,
		    &w->refill_at, &w->refill_turn);
		w->refilled += (uint64_t)c->refills * r->refill->values;
		iov[1] = (struct iovec){w->refill, c->refills * r->refill->len};
		put_or_keep(w, c, iov, 2, now);
	}
}

static void
flush(struct worker *w, struct conn *c, int64_t now)
{
	struct iovec iov[2];
	size_t k, first;
	ssize_t sent;

	while (conn_waits(c)) {
		first = c->nrest - c->rest_at;
		iov[0] = (struct iovec){c->rest + c->rest_at, first};
		iov[1] = (struct iovec){(char *)c->end, c->nend};
		sent = first ? put_all(w, c, iov, c->nend ? 2 : 1, now)
			     : put_all(w, c, iov + 1, 1, now);
		if (sent < 0)
			return;
		if (sent == 0)
			break;
		k = (size_t)sent < first ? (size_t)sent : first;
		c->rest_at += k;
		c->end += (size_t)sent - k;
		c->nend -= (size_t)sent - k;
	}
	pump(w, c, now);
	if (c->tls && c->state != CONN_DOWN)
		watch(w, c, conn_waits(c) ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void
conn_send(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	struct run *r = w->run;
	uint32_t refills = 0;

	if (r->refill) {
		c->popped += n;
		if (!c->awaited)
			refills = (uint32_t)(c->popped / r->refill->values);
		c->popped -= (uint64_t)refills * r->refill->values;
	}
	if (r->template)
		worker_course(w, c, n);
	if (!c->awaited)
		w->busy++;
	c->awaited += n + refills;
	c->refills = refills;
	c->todo += n;
	c->batch = r->work->rate > 0 ? 0 : n;
	c->first_ns = 0;
	c->start_ns = c->last_ns = clock_ns();
	pump(w, c, now);
}

void
conn_put(struct worker *w, struct conn *c, const char *p, size_t n, int64_t now)
{
	struct iovec iov = {(char *)p, n};

	put_or_keep(w, c, &iov, 1, now);
}

/* AUTH and SELECT, where there is something to say; then it is ready. */
static void
setup(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	struct iovec iov = {(char *)r->setup, r->nsetup};

	watch(w, c, base_events(c));
	c->setup = r->setup_replies;
	c->state = CONN_SETUP;
	if (c->setup) {
		put_or_keep(w, c, &iov, 1, now);
		return;
	}
	c->state = CONN_READY;
	w->nready++;
	worker_ready(w, c, now);
}

struct sink {
	struct worker *w;
	struct conn *c;
};

static void
error_reply(void *arg, const char *line, uint32_t nth)
{
	struct sink *s = arg;
	struct run *r = s->w->run;
	size_t n = strcspn(line, " ");
	char kind[64];

	if (s->c->state == CONN_SETUP || r->strict) {
		run_fail(r, "'%s' says: %s", s->c->node->name, line);
		return;
	}
	snprintf(kind, sizeof kind, "%.*s", (int)n, line);
	worker_error(s->w, kind, line);
	if (r->target->cluster && strcmp(kind, "MOVED") == 0)
		run_stale(r);
	if (r->target->cluster && detour_take(s->w, s->c, line, nth))
		return;
	if (nth >= s->c->awaited - s->c->refills)
		return;
	s->w->wrong++;
	if (!*s->w->refusal)
		snprintf(s->w->refusal, sizeof s->w->refusal, "%s", line);
}

/* Replies in w->in. 0, or -1 when they made no sense and the run failed. */
static int
replies(struct worker *w, struct conn *c, size_t n, int64_t now)
{
	struct scan_tally t = {0};
	struct sink sink = {w, c};
	uint32_t want = c->state == CONN_SETUP ? c->setup : c->awaited;
	ptrdiff_t used;

	used = scan_feed(&c->scan, w->in, n, want, &t, error_reply, &sink);
	if (used != (ptrdiff_t)n) {
		run_fail(w->run, "bad reply from '%s': %s", c->node->name,
		    used < 0 ? c->scan.line : "more than was asked for");
		conn_close(w, c);
		return -1;
	}
	c->last_ns = now;
	if (c->state == CONN_SETUP) {
		c->setup -= t.replies;
		if (c->setup == 0) {
			c->state = CONN_READY;
			w->nready++;
			worker_ready(w, c, now);
		}
		return 0;
	}
	if (!(t.replies | t.misses))
		return 0;
	if (c->detour)
		detour_replies(w, c, now, &t);
	else
		worker_replies(w, c, now, &t);
	return 0;
}

static void
receive(struct worker *w, struct conn *c, uint32_t events)
{
	int64_t now = w->now;
	ssize_t n;

	for (;;) {
		n = c->tls ? tls_read(c->tls, w->in, RUN_READ_SIZE)
			   : recv(c->fd, w->in, RUN_READ_SIZE, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		now = w->now = clock_ns();
		if (n <= 0) {
			conn_lost(w, c,
			    n == 0       ? "closed by the server"
				: c->tls ? tls_error(c->tls)
					 : strerror(errno),
			    now);
			return;
		}
		if (replies(w, c, (size_t)n, now) < 0 || c->state < CONN_SETUP)
			return;
		/* A short read has emptied it, but for the end of the stream.
		 */
		if (c->tls ? !tls_pending(c->tls)
			   : n < RUN_READ_SIZE && !(events & EPOLLRDHUP))
			return;
	}
}

void
conn_event(struct worker *w, struct conn *c, uint32_t events)
{
	switch (c->state) {
	case CONN_DOWN:
		return;
	case CONN_CONNECTING:
		connected(w, c, w->now);
		return;
	case CONN_TLS:
		tls_step(w, c, w->now);
		return;
	case CONN_SETUP:
	case CONN_READY:
		break;
	}
	if (events & EPOLLOUT && conn_waits(c))
		flush(w, c, w->now);
	if (events & ~(uint32_t)EPOLLOUT && c->state >= CONN_SETUP)
		receive(w, c, events);
}
