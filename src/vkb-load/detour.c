#include "losses.h"
#include "mem.h"
#include "run.h"
#include "slotmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char asking[] = "*1\r\n$6\r\nASKING\r\n";

/* Where an error reply sends a request. */
struct hint {
	unsigned slot;
	bool asking;
	char host[128];
	int port;
};

struct request {
	struct away away;
	char *bytes;
	size_t n;
	bool asking; /* sent with it */
	bool again;  /* its reply says 'to' */
	struct hint to;
	unsigned hops;
};

/* A node that requests were sent to, and those it has still to answer. */
struct detour {
	struct conn conn;
	struct slotmap_node node;
	struct request *queue; /* the oldest at 'head' */
	size_t head, n, cap;
	bool asked; /* the ASKING of the oldest one was answered */
	struct detour *next;
};

/* "MOVED 3999 host:port", "ASK ..."; no host means that of the sender. */
static bool
parse(struct hint *h, const char *line, const char *sender)
{
	const char *host, *colon;
	size_t n;

	h->asking = strncmp(line, "ASK ", 4) == 0;
	if (!h->asking && strncmp(line, "MOVED ", 6) != 0)
		return false;
	host = strchr(line + 6, ' ');
	colon = strrchr(line, ':');
	if (sscanf(strchr(line, ' '), " %u ", &h->slot) != 1 || !host ||
	    !colon || h->slot >= KEYS_SLOTS)
		return false;
	n = colon > host ? (size_t)(colon - host - 1) : 0;
	h->port = atoi(colon + 1);
	if (n >= sizeof h->host || h->port <= 0 || h->port > 65535)
		return false;
	snprintf(h->host, sizeof h->host, "%.*s", (int)n, host + 1);
	if (n == 0)
		snprintf(h->host, sizeof h->host, "%s", sender);
	return true;
}

static struct detour *
detour_to(struct worker *w, const struct hint *h)
{
	struct detour *d;

	for (d = w->detours; d; d = d->next)
		if (d->node.port == h->port &&
		    strcmp(d->node.host, h->host) == 0)
			return d;
	d = mem_new(sizeof *d);
	d->node.host = mem_str(h->host);
	d->node.port = h->port;
	d->node.name = mem_printf("%s:%d", h->host, h->port);
	d->conn.fd = -1;
	d->conn.detour = d;
	d->conn.node = &d->node;
	d->next = w->detours;
	w->detours = d;
	return d;
}

static void
send_one(struct worker *w, struct detour *d, const struct request *q)
{
	struct conn *c = &d->conn;

	if (!c->awaited)
		w->busy++;
	c->awaited += q->asking ? 2 : 1;
	if (q->asking)
		conn_put(w, c, asking, sizeof asking - 1, w->now);
	if (c->state == CONN_READY)
		conn_put(w, c, q->bytes, q->n, w->now);
}

static void
add(struct worker *w, const struct request *q)
{
	struct detour *d = detour_to(w, &q->to);
	struct conn *c = &d->conn;
	struct request *r;

	if (d->head == d->n && c->state == CONN_DOWN)
		c->down_ns = w->now;
	if (d->head && d->head >= d->n - d->head) { /* half is past */
		d->n -= d->head;
		memmove(d->queue, d->queue + d->head, d->n * sizeof *d->queue);
		d->head = 0;
	}
	d->queue = mem_grow(d->queue, d->n, &d->cap, sizeof *d->queue);
	r = &d->queue[d->n++];
	*r = *q;
	r->asking = q->to.asking;
	r->again = false;
	if (c->state == CONN_READY)
		send_one(w, d, r);
	else if (c->state == CONN_DOWN && w->now >= c->retry_ns)
		conn_open(w, c, w->now);
}

/* Connected, perhaps again: all that has no answer is sent. */
void
detour_ready(struct worker *w, struct conn *c)
{
	struct detour *d = c->detour;
	size_t i;

	d->asked = false;
	for (i = d->head; i < d->n && c->state == CONN_READY; i++)
		send_one(w, d, &d->queue[i]);
}

/* The request that the nth reply from now on belongs to. */
static struct request *
answered(struct detour *d, uint32_t nth)
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

/* The at'th of the batch. */
static void
compose_again(const struct worker *w, const struct conn *c, uint32_t at,
    struct request *q)
{
	const struct template *t = w->run->template;
	struct course course = c->from;
	uint32_t i;

	q->bytes = mem_new(template_room(t, 1));
	for (i = 0; i <= at; i++) {
		*q->bytes = 0;
		template_make(
		    t, &course, &c->node->keys, q->bytes, 1, 1, &q->n);
	}
}

/* The same request once more, or in random use one that is like it. */
static char *
make_again(struct worker *w, const struct conn *c, unsigned slot, uint32_t at)
{
	const struct command *cmd = w->run->command;
	const struct keys *k = &c->node->keys;
	uint64_t number = c->first + (uint64_t)at * w->run->sequence_step;
	uint64_t turn = 0;
	char *p = mem_new(cmd->len);

	command_copy(cmd, p, 1);
	if (c->sequence && c->batch) {
		command_fill(cmd, p, 1, k, &w->rng, &number, &turn);
		if (command_in_slot(cmd, p, k, slot))
			return p;
	}
	command_fill_slot(cmd, p, slot, k, &w->rng);
	return p;
}

bool
detour_take(struct worker *w, struct conn *c, const char *line, uint32_t nth)
{
	uint32_t plain = c->awaited - c->refills;
	struct request q = {.away.conn = c,
	    .away.start_ns = c->start_ns,
	    .away.counted = c->counted};
	struct request *p;
	struct hint to;

	if ((!w->run->template && !w->run->command->ntags) ||
	    !parse(&to, line, c->node->host))
		return false;
	if (c->detour) {
		p = answered(c->detour, nth);
		if (!p || p->hops == DETOUR_HOPS)
			return false;
		p->to = to;
		p->again = true;
		return true;
	}
	if (nth >= plain || (w->run->template && !c->batch))
		return false; /* a refill, or batches run into each other */
	q.to = to;
	if (w->run->template) {
		compose_again(w, c, c->batch - plain + nth, &q);
	} else {
		q.bytes = make_again(w, c, to.slot, c->batch - plain + nth);
		q.n = w->run->command->len;
	}
	if (w->run->work->rate > 0)
		openloop_away(w, c, nth, &q.away);
	c->away++;
	w->away++;
	w->taken++;
	add(w, &q);
	return true;
}

void
detour_replies(
    struct worker *w, struct conn *c, int64_t now, const struct scan_tally *t)
{
	struct detour *d = c->detour;
	struct scan_tally rest = *t;
	uint32_t i;
	struct request q;

	c->awaited -= t->replies;
	if (!c->awaited)
		w->busy--;
	for (i = 0; i < t->replies; i++) {
		q = d->queue[d->head];
		if (q.asking && !d->asked) {
			d->asked = true;
			continue;
		}
		d->asked = false;
		d->head++;
		if (q.again) {
			q.hops++;
			add(w, &q);
			continue;
		}
		free(q.bytes);
		worker_back(w, &q.away, now, &rest);
	}
}

void
detour_check(struct worker *w, int64_t now)
{
	struct detour *d;

	for (d = w->detours; d; d = d->next)
		if (d->head < d->n)
			worker_check(w, &d->conn, now);
}

int64_t
detour_oldest(const struct detour *d)
{
	return d->queue[d->head].away.start_ns;
}

uint32_t
detour_waiting(const struct detour *d)
{
	return (uint32_t)(d->n - d->head);
}

uint64_t
detour_give_up(struct worker *w, struct detour *d, int64_t now)
{
	uint64_t n = 0;
	struct request q;
	struct conn *c;

	for (; d->head < d->n; n++) {
		q = d->queue[d->head++];
		c = q.away.conn;
		free(q.bytes);
		losses_give_up(w, &q.away, now);
		w->away--;
		c->away--;
		if (w->run->work->rate <= 0 && c->state == CONN_READY &&
		    !c->awaited)
			worker_ready(w, c, now);
	}
	return n;
}

uint64_t
detour_end(struct worker *w, int64_t now)
{
	struct detour *d;
	uint64_t n = 0;

	for (d = w->detours; d; d = d->next)
		n += detour_give_up(w, d, now);
	return n;
}

void
detour_free(struct worker *w)
{
	struct detour *d;

	while ((d = w->detours)) {
		w->detours = d->next;
		if (d->conn.fd >= 0)
			conn_close(w, &d->conn);
		free(d->conn.rest);
		for (; d->head < d->n; d->head++)
			free(d->queue[d->head].bytes);
		free(d->queue);
		free(d->node.host);
		free(d->node.name);
		free(d);
	}
}
