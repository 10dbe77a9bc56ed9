/*
 * A connection to a server, made without blocking: it is opened, AUTH, HELLO
 * and SELECT are sent, then its client sends what it likes and is told of
 * replies, errors and the loss of it. Nothing here knows what is sent.
 */
#ifndef CONN_H
#define CONN_H

#include "scan.h"
#include "template.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONN_READ_SIZE (64 * 1024)

struct addrinfo;
struct conn;
struct iovec;
struct slotmap_node;
struct tls;
struct tls_context;

enum conn_state {
	CONN_DOWN,
	CONN_CONNECTING,
	CONN_TLS,
	CONN_SETUP,
	CONN_READY
};

/* What is told to whoever uses a connection. */
struct conn_client {
	/* It is connected and set up, for the first time or again. */
	void (*ready)(struct conn *, int64_t now);
	/* It was ready all the time, and may send again. */
	void (*resumed)(struct conn *, int64_t now);
	/* Some of the awaited replies, which the client takes off them. */
	void (*replies)(struct conn *, int64_t now, const struct scan_tally *);
	/* An error reply, before 'replies': the nth from now on; or of SETUP.
	 */
	void (*error)(struct conn *, const char *line, uint32_t nth);
	/* What came is no reply that is awaited; the connection is closed. */
	void (*nonsense)(struct conn *, const char *why);
	/* It broke, or could not be made. False: it is not to be closed. */
	bool (*lost)(struct conn *, const char *why, int64_t now);
	/* All that was put has been sent: there is room for more. Or NULL. */
	void (*room)(struct conn *, int64_t now);
};

/* How all connections of a run are made. */
struct conn_setup {
	struct tls_context *tls; /* NULL: without */
	const char *servername;
	char *text; /* AUTH, HELLO, SELECT */
	size_t n;
	unsigned replies;
	int send_room;  /* bytes; 0: as the system has it */
	bool zero_miss; /* see scan.h */
};

/* The connections of a thread. */
struct conn_loop {
	const struct conn_setup *setup;
	int ep;
	char *in; /* CONN_READ_SIZE bytes */
	int64_t now;
	size_t nready;
	size_t busy; /* connections with replies to come */
	uint64_t pushes;
};

struct conn {
	const struct conn_client *client;
	void *owner; /* the client's */
	struct conn_loop *loop;
	int fd;
	enum conn_state state;
	struct tls *tls;
	const struct slotmap_node *node; /* it is, or will be, connected to */
	const struct slotmap_node *next; /* NULL, or where it belongs now */
	const struct addrinfo *address;  /* of the node; NULL: the first one */
	uint32_t events;                 /* registered with epoll */
	uint32_t awaited;                /* replies */
	unsigned setup;   /* replies of AUTH, HELLO and SELECT to come */
	int64_t since_ns; /* connecting since */
	int64_t down_ns, retry_ns;
	struct scan scan;
	char *rest; /* what a short write left; its room is kept */
	size_t nrest, rest_at, rest_cap;
	const char *end; /* what follows that, 'nend' bytes; borrowed */
	size_t nend;

	/* The requests of a client of the load; see sending.c. */
	size_t index;     /* over all threads */
	uint32_t refills; /* of the awaited replies; they come last */
	uint32_t away;    /* requests of it that were redirected */
	uint32_t batch;   /* requests made in the last one */
	bool counted;     /* the batch is part of the measured requests */
	uint32_t pool;    /* of the worker, that it belongs to */
	bool queued;      /* among the idle ones of its pool */
	bool has_client;  /* a client of the cluster has a batch on it */
	uint64_t popped;  /* since the last refill */
	uint32_t again;   /* lost with the connection, to be sent again */
	int64_t start_ns; /* of the batch, when it was sent first */
	int64_t first_ns;
	uint64_t *sequence, here; /* of the numbers; NULL: random */
	uint64_t first;           /* number or key of the batch, in sequence */
	uint32_t todo;            /* commands of the batch not yet made */
	struct course course;     /* of a template; 'from': its batch's */
	struct course from;
	int64_t *due, *written; /* rings of 'pipeline' entries, open loop */
	uint32_t oldest;
};

void conn_open(struct conn *, int64_t now);
void conn_close(struct conn *);
void conn_event(struct conn *, uint32_t events);

/* Something put before waits for room to be sent. */
static inline bool
conn_waits(const struct conn *c)
{
	return c->rest_at < c->nrest || c->nend;
}

/* As many more replies are awaited. */
static inline void
conn_await(struct conn *c, uint32_t n)
{
	if (!c->awaited)
		c->loop->busy++;
	c->awaited += n;
}

/* Sends bytes, or keeps a copy of what the socket has no room for. */
void conn_put(struct conn *, const char *p, size_t n, int64_t now);
void conn_put_parts(struct conn *, const struct iovec *, int n, int64_t now);

/*
 * The same where nothing waits. The last 'nend' bytes are those in front of
 * 'end', which stay: no copy of them is kept, so that many connections do not
 * hold as many large values.
 */
void conn_put_batch(struct conn *, const char *p, size_t n, const char *end,
    size_t nend, int64_t now);

#endif
