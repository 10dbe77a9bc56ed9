#include "redirect.h"
#include "verify.h"
#include "connect.h"
#include "slotmap.h"
#include "dealer.h"
#include "losses.h"
#include "mem.h"
#include "counters.h"
#include "pools.h"
#include "run.h"
#include "mix.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

static const char asking[] = "*1\r\n$6\r\nASKING\r\n";

#define REDIRECT_HOPS 16
#define RETRY_NS 50000000 /* before a retry after a passing error */

struct request {
	struct redirected from;
	char *bytes;
	size_t n;
	bool asking; /* ASKING is sent before it */
	bool again;  /* its reply was an error: send to 'to' */
	struct slotmap_hint to;
	unsigned hops;
};

/* A request that is sent again later, after a passing error. */
struct delayed_request {
	struct request request;
	int64_t at_ns;
};

/* A node, and the requests that it has to answer. */
struct redirect {
	struct conn conn; /* the first member, see get_redirect */
	struct slotmap_node node;
	struct addrinfo *own;  /* addresses that are not of a map */
	struct request *queue; /* the oldest at 'head' */
	size_t head, n, cap;
	bool asked; /* the ASKING of the oldest request was */
	struct redirect *next;
};

/*
 * Finds the addresses of a node that a server named. A look-up would block this
 * thread, so a host name must be in the map.
 */
static void
find_addresses(struct worker *w, struct redirect *d)
{
	const struct slotmap_node *n;

	if (d->node.addresses || d->node.unixsocket)
		return;
	n = slotmap_find(w->map, d->node.name);
	if (n)
		d->node.addresses = n->addresses;
	if (d->node.addresses)
		return;
	d->own = connect_resolve(
	    d->node.host, d->node.port, true, &d->node.unresolved);
	d->node.addresses = d->own;
	if (!d->own)
		d->node.unresolved =
		    "CLUSTER SLOTS does not know this host name";
}

static const struct conn_client redirect_client;

static struct redirect *
get_redirect(struct conn *c)
{
	return (struct redirect *)c;
}

static struct redirect *
find_redirect(struct worker *w, const struct slotmap_hint *h)
{
	char *name = h->unixsocket ? mem_str(h->unixsocket)
				   : mem_printf("%s:%d", h->host, h->port);
	struct redirect *d;

	for (d = w->redirects; d; d = d->next)
		if (strcmp(d->node.name, name) == 0) {
			free(name);
			find_addresses(w, d);
			return d;
		}
	d = mem_new(sizeof *d);
	d->node.host = mem_str(h->host);
	d->node.port = h->port;
	d->node.unixsocket = mem_str(h->unixsocket);
	d->node.name = name;
	d->conn.client = &redirect_client;
	d->conn.worker = w;
	d->conn.loop = &w->loop;
	d->conn.fd = -1;
	d->conn.node = &d->node;
	if (w->checks) {
		d->conn.expected = mem_new(sizeof *d->conn.expected);
		d->conn.expected->written = w->checks->written;
	}
	find_addresses(w, d);
	d->next = w->redirects;
	w->redirects = d;
	return d;
}

static void
send_request(struct worker *w, struct redirect *d, const struct request *q)
{
	struct conn *c = &d->conn;

	conn_await(c, q->asking ? 2 : 1);
	if (w->checks && q->asking)
		verify_add_request(c->expected, false);
	if (w->checks)
		verify_await(c->expected, q->bytes, q->n);
	if (q->asking)
		conn_put(c, asking, sizeof asking - 1, w->loop.now);
	if (c->state == CONN_READY)
		conn_put(c, q->bytes, q->n, w->loop.now);
}

static void
queue_request(struct worker *w, const struct request *q)
{
	struct redirect *d = find_redirect(w, &q->to);
	struct conn *c = &d->conn;
	struct request *r;

	if (d->head == d->n && c->state == CONN_DOWN)
		c->down_ns = w->loop.now;
	if (d->head && d->head >= d->n - d->head) { /* half is used */
		d->n -= d->head;
		memmove(d->queue, d->queue + d->head, d->n * sizeof *d->queue);
		d->head = 0;
	}
	r = MEM_ADD(d->queue, d->n, d->cap);
	*r = *q;
	r->asking = q->to.asking;
	r->again = false;
	if (c->state == CONN_READY)
		send_request(w, d, r);
	else if (c->state == CONN_DOWN && w->loop.now >= c->retry_ns)
		conn_open(c, w->loop.now);
}

static void
queue_later(struct worker *w, const struct request *q)
{
	*MEM_ADD(w->later, w->nlater, w->later_cap) =
	    (struct delayed_request){*q, w->loop.now + RETRY_NS};
}

/* Sends the requests that have waited long enough. */
static void
send_later(struct worker *w, int64_t now)
{
	size_t i, n = w->nlater, left = 0;

	for (i = 0; i < n; i++)
		if (w->later[i].at_ns <= now)
			queue_request(w, &w->later[i].request);
		else
			w->later[left++] = w->later[i];
	w->nlater = left;
}

/* Sends all unanswered requests when connected, perhaps again. */
static void
on_ready(struct conn *c, int64_t now)
{
	struct redirect *d = get_redirect(c);
	size_t i;

	(void)now;
	d->asked = false;
	if (c->worker->checks)
		verify_forget(c->expected);
	for (i = d->head; i < d->n && c->state == CONN_READY; i++)
		send_request(c->worker, d, &d->queue[i]);
}

/* Returns the request of the nth reply from now on; NULL for ASKING. */
static struct request *
find_answered(struct redirect *d, uint32_t nth)
{
	size_t i = d->head;
	bool asked = d->asked;

	for (; i < d->n; i++, asked = false) {
		if (d->queue[i].asking && !asked && nth-- == 0)
			return NULL; /* ASKING itself */
		if (nth-- == 0)
			return &d->queue[i];
	}
	return NULL;
}

/*
 * Makes the at'th request of the batch; in open loop, where its number is not
 * known, a similar one: of a mix, one of that step. Of a trace, copies the
 * at'th unanswered one.
 */
static void
make_again(struct worker *w, struct conn *c, uint32_t at, uint32_t step,
    struct request *q)
{
	const struct cmdsource *s = w->run->source;
	struct cursor cursor = c->batch ? c->from : c->cursor;
	uint32_t i;

	cursor.expected = NULL;
	if (c->list) {
		q->n = dealer_at(c->list, at)->n;
		q->bytes = mem_strn(dealer_at(c->list, at)->bytes, q->n);
		return;
	}
	if (!c->batch) {
		rng_seed(&cursor.rng, rng_next(&w->rng), 0);
		cursor.in_slot = !q->to.later;
		cursor.slot = q->to.slot;
		cursor.step = step;
		if (!cursor.in_slot)
			pools_advance(w, c, 1);
		run_renew(w, c, &cursor, 1);
	}
	q->bytes = mem_new(s->ops->room(s, 1));
	for (i = 0; i <= at; i++) {
		*q->bytes = 0;
		s->ops->make(s, &cursor, &c->node->keys, q->bytes, 1, 1, &q->n);
	}
}

/* Reads where or when to send a request again. Returns false if neither. */
static bool
read_hint(const struct worker *w, const struct conn *c, const char *line,
    struct slotmap_hint *to)
{
	const struct run *r = w->run;

	if (slotmap_read_passing(to, line, c->node))
		return true;
	return r->target->cluster &&
	    slotmap_read_moved(to, line, c->node->host);
}

/* Returns true after half of the timeout: the error is then the answer. */
static bool
is_too_late(
    const struct worker *w, const struct slotmap_hint *to, int64_t start)
{
	return to->later &&
	    w->loop.now + RETRY_NS - start > w->run->timeout_ns / 2;
}

/* Marks a request to be sent again. False: its error is the answer. */
static bool
send_again(struct worker *w, struct request *p, struct slotmap_hint *to)
{
	if (!p || (!to->later && p->hops == REDIRECT_HOPS) ||
	    is_too_late(w, to, p->from.start_ns))
		return false;
	if (to->later)
		to->asking = p->asking;
	p->to = *to;
	p->again = true;
	return true;
}

bool
redirect_take(struct worker *w, struct conn *c, const char *line, uint32_t nth)
{
	uint32_t plain = c->awaited - c->refills;
	struct request q = {.from.conn = c,
	    .from.start_ns = c->start_ns,
	    .from.counted = c->counted};
	uint32_t at = c->list ? nth : c->batch ? c->batch - plain + nth : 0;
	struct slotmap_hint to;

	if (mix_is_whole(w, c, nth) || !read_hint(w, c, line, &to))
		return false;
	/* It is a refill, or no similar request has that slot. */
	if (nth >= plain || is_too_late(w, &to, q.from.start_ns) ||
	    (!c->batch && !to.later && !w->run->source->tagged))
		return false;
	q.to = to;
	make_again(w, c, at, c->ring.at - plain + nth, &q);
	if (w->parts) {
		q.from.part = counters_find_part(w, c, nth, plain);
		w->parts[q.from.part].taken++;
	}
	if (run_is_open(w->run))
		w->run->arrivals->pacing->take_times(w, c, nth, &q.from);
	c->nredirected++;
	w->nredirected++;
	w->all.taken++;
	if (to.later)
		queue_later(w, &q);
	else
		queue_request(w, &q);
	return true;
}

/* Records the latency of an answered request and lets its connection go on. */
static void
finish_request(struct worker *w, const struct redirected *a, int64_t now,
    struct scan_counters *t)
{
	struct run *r = w->run;
	struct conn *c = a->conn;

	c->nredirected--;
	w->nredirected--;
	counters_count_answers(
	    w, r->arrivals->pacing->redirected(w, a, now), t->misses, now);
	t->misses = 0; /* count those of one read only once */
	if (!run_is_open(r) && c->state == CONN_READY && !c->awaited)
		c->client->resumed(c, now);
}

static void
on_replies(struct conn *c, int64_t now, const struct scan_counters *t)
{
	struct redirect *d = get_redirect(c);
	struct worker *w = c->worker;
	struct scan_counters rest = *t;
	uint32_t i;
	struct request q;

	if (w->checks)
		verify_end(w->checks, c->expected, t->replies);
	c->awaited -= t->replies;
	if (!c->awaited)
		w->loop.busy--;
	for (i = 0; i < t->replies; i++) {
		q = d->queue[d->head];
		if (q.asking && !d->asked) {
			d->asked = true;
			continue;
		}
		d->asked = false;
		d->head++;
		if (q.again && q.to.later) {
			queue_later(w, &q);
			continue;
		}
		if (q.again) {
			q.hops++;
			queue_request(w, &q);
			continue;
		}
		free(q.bytes);
		finish_request(w, &q.from, now, &rest);
	}
}

static void
on_error(struct conn *c, const char *line, uint32_t nth)
{
	struct redirect *d = get_redirect(c);
	struct worker *w = c->worker;
	struct request *q;
	struct slotmap_hint to;

	if (!counters_count_error_reply(w, c, line))
		return;
	q = find_answered(d, nth);
	if (w->checks)
		verify_excuse(w->checks, c->expected, nth);
	if (w->parts && q)
		counters_add_error(&w->parts[q->from.part], line);
	if (read_hint(w, c, line, &to) && send_again(w, q, &to))
		return;
	counters_count_refused(&w->all, line);
	if (w->parts && q)
		counters_count_refused(&w->parts[q->from.part], line);
}

static void
on_missed(struct conn *c, uint32_t nth, bool zero)
{
	struct redirect *d = get_redirect(c);
	struct worker *w = c->worker;
	const struct request *q = find_answered(d, nth);

	if (w->checks)
		verify_miss(w->checks, c->expected, nth);
	if (w->parts && q)
		counters_miss(w, q->from.part, zero);
}

/* The unanswered requests stay in the queue. */
static bool
on_loss(struct conn *c, const char *why, int64_t now)
{
	struct redirect *d = get_redirect(c);
	struct worker *w = c->worker;

	for (size_t i = d->head; w->parts && i < d->n; i++)
		w->parts[d->queue[i].from.part].lost +=
		    c->state == CONN_READY && w->external;
	return losses_count_break(
	    c->worker, c, (uint32_t)(d->n - d->head), why, now);
}

static const struct conn_client redirect_client = {.ready = on_ready,
    .replies = on_replies,
    .error = on_error,
    .missed = on_missed,
    .value = counters_check_value,
    .nonsense = losses_fail_on_nonsense,
    .lost = on_loss};

/* Records the age of a request that has no answer. */
static void
give_up(struct worker *w, const struct request *q, int64_t now)
{
	struct conn *c = q->from.conn;

	free(q->bytes);
	losses_give_up(w, &q->from, now);
	if (w->parts)
		w->parts[q->from.part].unanswered++;
	w->nredirected--;
	c->nredirected--;
	if (!run_is_open(w->run) && c->state == CONN_READY && !c->awaited)
		c->client->resumed(c, now);
}

/* Gives up all requests of a node; returns how many. */
static uint64_t
give_up_all(struct worker *w, struct redirect *d, int64_t now)
{
	uint64_t n = 0;

	for (; d->head < d->n; n++)
		give_up(w, &d->queue[d->head++], now);
	return n;
}

void
redirect_check(struct worker *w, int64_t now)
{
	struct redirect *d;

	send_later(w, now);
	for (d = w->redirects; d; d = d->next)
		if (d->head < d->n && losses_check(w, &d->conn, now) &&
		    losses_is_expired(
			w, &d->conn, d->queue[d->head].from.start_ns, now))
			losses_count_unanswered(
			    w, &d->conn, give_up_all(w, d, now), now);
}

void
redirect_end(struct worker *w, int64_t now)
{
	struct redirect *d;
	uint64_t n = 0;

	for (d = w->redirects; d; d = d->next)
		n += give_up_all(w, d, now);
	for (; w->nlater; n++)
		give_up(w, &w->later[--w->nlater].request, now);
	w->all.unanswered += n;
	losses_add(w->run, n, "no reply to %s from another node for %g s",
	    w->run->work->command, (double)w->run->timeout_ns / 1e9);
}

void
redirect_free(struct worker *w)
{
	struct redirect *d;

	while (w->nlater)
		free(w->later[--w->nlater].request.bytes);
	free(w->later);
	while ((d = w->redirects)) {
		w->redirects = d->next;
		if (d->conn.fd >= 0)
			conn_close(&d->conn);
		free(d->conn.rest);
		verify_free(d->conn.expected);
		for (; d->head < d->n; d->head++)
			free(d->queue[d->head].bytes);
		free(d->queue);
		free(d->node.host);
		free(d->node.unixsocket);
		free(d->node.name);
		if (d->own)
			freeaddrinfo(d->own);
		free(d);
	}
}
