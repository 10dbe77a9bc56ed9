#include "conn.h"
#include "clock.h"
#include "connect.h"
#include "err.h"
#include "mem.h"
#include "slotmap.h"
#include "tls.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * TCP is watched edge-triggered for both directions from the start: the kernel
 * reports writability only after a short write, so the events never change. A
 * unix socket would report it after each read of the server, so EPOLLOUT is
 * added when needed.
 */
static void
set_events(struct conn *c, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = c};

	if (c->events == events)
		return;
	if (epoll_ctl(c->loop->ep, c->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
		c->fd, &e) < 0)
		err_die("epoll_ctl: %s", strerror(errno));
	c->events = events;
}

static uint32_t
get_base_events(const struct conn *c)
{
	if (c->node->unixsocket)
		return EPOLLIN | EPOLLRDHUP | EPOLLET;
	return EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
}

static void
await_writable(struct conn *c)
{
	set_events(c, get_base_events(c) | EPOLLOUT);
}

void
conn_close(struct conn *c)
{
	struct conn_loop *l = c->loop;

	tls_free(c->tls);
	c->tls = NULL;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	if (c->awaited && c->state == CONN_READY)
		l->busy--;
	if (c->state == CONN_READY) {
		l->nready--;
		c->down_ns = l->now;
	}
	c->state = CONN_DOWN;
	c->events = 0;
	c->awaited = c->refills = 0;
	c->nrest = c->rest_at = c->nend = 0;
	c->todo = 0;
	c->ring.fresh = true;
	memset(&c->scan, 0, sizeof c->scan);
}

void
conn_leave(struct conn *c)
{
	const struct linger reset = {.l_onoff = 1};

	if (c->tls && c->loop->setup->resume) {
		tls_session_free(c->session);
		c->session = tls_end(c->tls);
	}
	if (!c->node->unixsocket)
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	conn_close(c);
}

static void
report_loss(struct conn *c, const char *why, int64_t now)
{
	if (!c->client->lost(c, why, now))
		return;
	conn_close(c);
	c->retry_ns = now + 100000000;
}

static void send_setup(struct conn *, int64_t);

static void
on_missed(void *arg, uint32_t nth, bool zero)
{
	struct conn *c = arg;

	if (c->state == CONN_READY)
		c->client->missed(c, nth, zero);
}

static void
on_value(void *arg, uint32_t nth, const char *p, size_t n, uint64_t left)
{
	struct conn *c = arg;

	if (c->state == CONN_READY)
		c->client->value(c, nth, p, n, left);
}

/* Tries the next address of the node; reports the loss if there is none. */
static void
try_next_address(struct conn *c, const char *why, int64_t now)
{
	c->address = c->address ? c->address->ai_next : NULL;
	if (!c->address) {
		report_loss(c, why, now);
		return;
	}
	conn_close(c);
	conn_open(c, now);
}

void
conn_open(struct conn *c, int64_t now)
{
	const struct conn_setup *s = c->loop->setup;

	if (c->next)
		c->node = c->next;
	if (c->next || !c->address)
		c->address = c->node->addresses;
	c->next = NULL;
	c->state = CONN_CONNECTING;
	c->since_ns = now;
	if (c->node->unixsocket)
		c->fd = connect_unix(c->node->unixsocket);
	else if (c->address)
		c->fd = connect_tcp(c->address, s->send_room);
	else
		c->fd = -1;
	if (c->fd < 0 && c->node->unixsocket && errno == EAGAIN) {
		/* The server's backlog is full: the next tick tries again. */
		c->state = CONN_DOWN;
		c->retry_ns = now;
		return;
	}
	if (c->fd < 0) {
		try_next_address(c,
		    c->node->unixsocket || c->address ? strerror(errno)
						      : c->node->unresolved,
		    now);
		return;
	}
	c->scan.zero_miss = s->zero_miss;
	c->scan.tell_nil = s->tell_nil;
	c->scan.missed = s->missed ? on_missed : NULL;
	scan_tell_values(&c->scan, s->values ? on_value : NULL);
	if (s->tls)
		c->tls = tls_new(s->tls, c->fd, s->servername, c->session);
	await_writable(c);
}

static void
continue_handshake(struct conn *c, int64_t now)
{
	if (tls_handshake(c->tls) == 0) {
		send_setup(c, now);
		return;
	}
	if (errno != EAGAIN)
		report_loss(c, tls_error(c->tls), now);
}

static void
finish_connect(struct conn *c, int64_t now)
{
	int e = 0;
	socklen_t n = sizeof e;

	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &n) < 0)
		e = errno;
	if (e) {
		try_next_address(c, strerror(e), now);
		return;
	}
	if (!c->tls) {
		send_setup(c, now);
		return;
	}
	c->state = CONN_TLS;
	continue_handshake(c, now);
}

static void
set_ready(struct conn *c, int64_t now)
{
	c->state = CONN_READY;
	c->loop->nready++;
	c->client->ready(c, now);
}

/* Sends AUTH, HELLO and SELECT as needed; if none, the connection is ready. */
static void
send_setup(struct conn *c, int64_t now)
{
	const struct conn_setup *s = c->loop->setup;

	set_events(c, get_base_events(c));
	c->setup = s->replies;
	c->state = CONN_SETUP;
	if (c->setup)
		conn_put(c, s->text, s->n, now);
	else
		set_ready(c, now);
}

static void
on_error_reply(void *arg, const char *line, uint32_t nth)
{
	struct conn *c = arg;

	c->client->error(c, line, nth);
}

/*
 * Takes an error that no request asked for: the server says why it closes a
 * connection that it has just taken. Returns false if there is no error.
 */
static bool
take_refusal(struct conn *c, size_t n, int64_t now)
{
	const char *line = c->loop->in, *end = memchr(line, '\r', n);
	char why[SCAN_LINE];

	if (c->awaited || *line != '-' || !end)
		return false;
	snprintf(why, sizeof why, "%.*s", (int)(end - line - 1), line + 1);
	report_loss(c, why, now);
	return true;
}

/* Scans replies in the buffer. Returns 0, or -1 if they are not RESP. */
static int
read_replies(struct conn *c, size_t n, int64_t now)
{
	struct scan_counters t = {0};
	uint32_t want = c->state == CONN_SETUP ? c->setup : c->awaited;
	ptrdiff_t used;

	used = scan_feed(&c->scan, c->loop->in, n, want, &t, on_error_reply, c);
	if (used != (ptrdiff_t)n) {
		if (used == 0 && take_refusal(c, n, now))
			return -1;
		c->client->nonsense(
		    c, used < 0 ? c->scan.line : "more than was asked for");
		conn_close(c);
		return -1;
	}
	c->loop->pushes += t.pushes;
	if (c->state == CONN_SETUP) {
		c->setup -= t.replies;
		if (c->setup == 0)
			set_ready(c, now);
		return 0;
	}
	if (t.replies | t.misses)
		c->client->replies(c, now, &t);
	return 0;
}

static void
receive_replies(struct conn *c, uint32_t events)
{
	struct conn_loop *l = c->loop;
	int64_t now = l->now;
	ssize_t n;

	for (;;) {
		n = c->tls ? tls_read(c->tls, l->in, CONN_READ_SIZE)
			   : recv(c->fd, l->in, CONN_READ_SIZE, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		now = l->now = clock_ns();
		if (n <= 0) {
			report_loss(c,
			    n == 0       ? "closed by the server"
				: c->tls ? tls_error(c->tls)
					 : strerror(errno),
			    now);
			return;
		}
		if (read_replies(c, (size_t)n, now) < 0 ||
		    c->state < CONN_SETUP)
			return;
		/*
		 * A short read means that the socket is empty, except at the
		 * end of the stream.
		 */
		if ((c->tls ? tls_is_drained(c->tls) : n < CONN_READ_SIZE) &&
		    !(events & EPOLLRDHUP))
			return;
	}
}

/* Keeps what a write left, to be sent when the socket can take it. */
static void
keep_rest(struct conn *c, const char *p, size_t n)
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

/* Returns the bytes sent, fewer if the socket is full; -1 if lost. */
static ssize_t
send_parts(struct conn *c, const struct iovec *iov, int n, int64_t now)
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
	report_loss(c, c->tls ? tls_error(c->tls) : strerror(errno), now);
	return -1;
}

/* As send_parts, but TLS sends one piece at a time. */
static ssize_t
send_all(struct conn *c, const struct iovec *iov, int n, int64_t now)
{
	struct iovec part;
	size_t done = 0, at;
	ssize_t k;
	int i;

	if (!c->tls)
		return send_parts(c, iov, n, now);
	for (i = 0; i < n; i++)
		for (at = 0; at < iov[i].iov_len; at += (size_t)k) {
			part = (struct iovec){
			    (char *)iov[i].iov_base + at, iov[i].iov_len - at};
			k = send_parts(c, &part, 1, now);
			if (k <= 0)
				return k < 0 ? k : (ssize_t)done;
			done += (size_t)k;
		}
	return (ssize_t)done;
}

void
conn_put_parts(struct conn *c, const struct iovec *iov, int n, int64_t now)
{
	size_t done, skip;
	ssize_t k = 0;
	int i;

	if (!conn_waits(c)) /* else keep it behind what waits */
		k = send_all(c, iov, n, now);
	if (k < 0)
		return;
	for (i = 0, skip = (size_t)k; i < n; i++) {
		done = skip < iov[i].iov_len ? skip : iov[i].iov_len;
		skip -= done;
		if (done < iov[i].iov_len)
			keep_rest(c, (char *)iov[i].iov_base + done,
			    iov[i].iov_len - done);
	}
	if (conn_waits(c))
		await_writable(c);
}

void
conn_put(struct conn *c, const char *p, size_t n, int64_t now)
{
	struct iovec iov = {(char *)p, n};

	conn_put_parts(c, &iov, 1, now);
}

/* OpenSSL needs the same bytes again after a short write, so all are copied. */
void
conn_put_batch(struct conn *c, const char *p, size_t n, const char *end,
    size_t nend, int64_t now)
{
	struct iovec iov = {(char *)p, n};
	ssize_t k = c->tls ? -1 : send(c->fd, p, n, MSG_NOSIGNAL);
	size_t left;

	if (k < 0)
		k = send_all(c, &iov, 1, now);
	if (k < 0 || (size_t)k == n)
		return;
	left = n - (size_t)k;
	if (c->tls)
		nend = 0;
	if (nend > left)
		nend = left;
	keep_rest(c, p + k, left - nend);
	c->end = end - nend;
	c->nend = nend;
	await_writable(c);
}

/* Sends the kept bytes. */
static void
send_rest(struct conn *c, int64_t now)
{
	struct iovec iov[2];
	size_t k, first;
	ssize_t sent;

	while (conn_waits(c)) {
		first = c->nrest - c->rest_at;
		iov[0] = (struct iovec){c->rest + c->rest_at, first};
		iov[1] = (struct iovec){(char *)c->end, c->nend};
		sent = first ? send_all(c, iov, c->nend ? 2 : 1, now)
			     : send_all(c, iov + 1, 1, now);
		if (sent <= 0)
			return;
		k = (size_t)sent < first ? (size_t)sent : first;
		c->rest_at += k;
		c->end += (size_t)sent - k;
		c->nend -= (size_t)sent - k;
	}
	if (c->client->room)
		c->client->room(c, now);
}

void
conn_event(struct conn *c, uint32_t events)
{
	int64_t now = c->loop->now;

	switch (c->state) {
	case CONN_DOWN:
		return;
	case CONN_CONNECTING:
		finish_connect(c, now);
		return;
	case CONN_TLS:
		continue_handshake(c, now);
		return;
	case CONN_SETUP:
	case CONN_READY:
		break;
	}
	if (events & EPOLLOUT && conn_waits(c))
		send_rest(c, now);
	/* OpenSSL may have to write before it can read on. */
	if ((events & ~(uint32_t)EPOLLOUT || c->tls) && c->state >= CONN_SETUP)
		receive_replies(c, events);
}
