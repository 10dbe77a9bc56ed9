#include "clock.h"
#include "dial.h"
#include "losses.h"
#include "run.h"
#include "slotmap.h"
#include "tls.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
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

void
conn_await_room(struct worker *w, struct conn *c)
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
	if (c->state == CONN_READY) {
		w->nready--;
		c->down_ns = w->now;
	}
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
	if (c->state != CONN_DOWN && !r->go) {
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
		losses_break(w, c, why, now);
	}
	if (r->target->cluster) /* another may have taken its place */
		run_stale(r);
	conn_close(w, c);
	c->retry_ns = now + 100000000;
}

/*
 * A batch this large is not given to the kernel whole: what lies in the send
 * buffers of all connections is to stay in the cache until the server reads
 * it. On the null server, 16 KB values at pipeline 100 cost a third less.
 */
enum { BATCH_LARGE = 512 * 1024, SEND_ROOM = 128 * 1024 };

static void setup(struct worker *, struct conn *, int64_t);

/* Goes on with the next address of the node, where it has one. */
static void
not_connected(struct worker *w, struct conn *c, const char *why, int64_t now)
{
	c->address = c->address ? c->address->ai_next : NULL;
	if (!c->address) {
		conn_lost(w, c, why, now);
		return;
	}
	conn_close(w, c);
	conn_open(w, c, now);
}

void
conn_open(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	size_t batch = r->pipeline * (size_t)r->command->len;

	if (c->next)
		c->node = c->next;
	if (c->next || !c->address)
		c->address = c->node->addresses;
	c->next = NULL;
	c->course.turn = 0;
	c->state = CONN_CONNECTING;
	c->since_ns = now;
	if (c->node->unixsocket)
		c->fd = dial_unix(c->node->unixsocket);
	else if (c->address)
		c->fd =
		    dial_tcp(c->address, batch > BATCH_LARGE ? SEND_ROOM : 0);
	else
		c->fd = -1;
	if (c->fd < 0 && c->node->unixsocket && errno == EAGAIN) {
		/* The server has yet to take others: the next tick tries again.
		 */
		c->state = CONN_DOWN;
		c->retry_ns = now;
		return;
	}
	if (c->fd < 0) {
		not_connected(w, c,
		    c->node->unixsocket || c->address ? strerror(errno)
						      : c->node->unresolved,
		    now);
		return;
	}
	c->scan.zero_miss = r->command->zero_miss;
	if (r->tls)
		c->tls = tls_new(r->tls, c->fd, r->target->servername);
	conn_await_room(w, c);
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
		not_connected(w, c, strerror(e), now);
		return;
	}
	if (!c->tls) {
		setup(w, c, now);
		return;
	}
	c->state = CONN_TLS;
	tls_step(w, c, now);
}

/* AUTH, HELLO and SELECT, where there is something to say; then it is ready. */
static void
setup(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;

	watch(w, c, base_events(c));
	c->setup = r->setup_replies;
	c->state = CONN_SETUP;
	if (c->setup) {
		conn_put(w, c, r->setup, r->nsetup, now);
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
	if (detour_take(s->w, s->c, line, nth))
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
		run_fail(w->run, "bad reply from '%s' to %s: %s", c->node->name,
		    c->state == CONN_SETUP ? "AUTH, HELLO or SELECT"
					   : losses_command(w->run),
		    used < 0 ? c->scan.line : "more than was asked for");
		conn_close(w, c);
		return -1;
	}
	w->pushes += t.pushes;
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

static void
flush(struct worker *w, struct conn *c)
{
	conn_flush(w, c, w->now);
	if (c->tls && c->state != CONN_DOWN)
		watch(w, c, conn_waits(c) ? EPOLLIN | EPOLLOUT : EPOLLIN);
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
		flush(w, c);
	if (events & ~(uint32_t)EPOLLOUT && c->state >= CONN_SETUP)
		receive(w, c, events);
}
