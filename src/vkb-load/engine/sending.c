#include "clock.h"
#include "mem.h"
#include "run.h"
#include "slotmap.h"
#include "tls.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

bool
conn_waits(const struct conn *c)
{
	return c->rest_at < c->nrest || c->nend;
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
		conn_await_room(w, c);
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
	conn_await_room(w, c);
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

void
conn_flush(struct worker *w, struct conn *c, int64_t now)
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
}

static inline void
send_batch(
    struct run *r, struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	uint32_t refills = 0;

	if (r->refill) {
		c->popped += n;
		if (!c->awaited)
			refills = (uint32_t)(c->popped / r->refill->values);
		c->popped -= (uint64_t)refills * r->refill->values;
	}
	if (!c->awaited)
		w->busy++;
	c->awaited += n + refills;
	c->refills = refills;
	c->todo += n;
	c->batch = r->work->rate > 0 ? 0 : n;
	c->first_ns = 0;
	c->start_ns = clock_ns();
	pump(w, c, now);
}

void
conn_send(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	struct run *r = w->run;

	if (r->template)
		worker_course(w, c, n);
	send_batch(r, w, c, n, now);
}

void
conn_send_same(struct worker *w, struct conn *c, uint32_t n, int64_t now)
{
	send_batch(w->run, w, c, n, now);
}

void
conn_put(struct worker *w, struct conn *c, const char *p, size_t n, int64_t now)
{
	struct iovec iov = {(char *)p, n};

	put_or_keep(w, c, &iov, 1, now);
}
