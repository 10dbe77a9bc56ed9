/*
 * A non-blocking connection to a server: it is opened, sends AUTH, HELLO and
 * SELECT, and then calls its client for replies, errors and its loss. It does
 * not know what is sent.
 */
#ifndef CONN_H
#define CONN_H

#include "scan.h"
#include "cmdsource.h"
#include "mix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONN_READ_SIZE (64 * 1024)

struct addrinfo;
struct verify_queue;
struct conn;
struct dealer_list;
struct iovec;
struct slotmap_node;
struct tls;
struct tls_context;
struct tls_session;
struct worker;

enum conn_state {
	CONN_DOWN,
	CONN_CONNECTING,
	CONN_TLS,
	CONN_SETUP,
	CONN_READY
};

/* The callbacks of the user of a connection. */
struct conn_client {
	/* It is connected and set up, for the first time or again. */
	void (*ready)(struct conn *, int64_t now);
	/* It stayed ready and may send again. */
	void (*resumed)(struct conn *, int64_t now);
	/* Awaited replies arrived; the client subtracts them from 'awaited'. */
	void (*replies)(
	    struct conn *, int64_t now, const struct scan_counters *);
	/*
	 * An error reply, called before 'replies': the nth from now on; or one
	 * to the setup commands.
	 */
	void (*error)(struct conn *, const char *line, uint32_t nth);
	/*
	 * Elements missing in the nth reply from now on, called before
	 * 'replies' if the setup asks for it; zero: by a 0.
	 */
	void (*missed)(struct conn *, uint32_t nth, bool zero);
	/*
	 * Bytes of a string in the nth reply, with 'left' more to come, called
	 * before 'replies' if the setup asks for it.
	 */
	void (*value)(struct conn *, uint32_t nth, const char *p, size_t n,
	    uint64_t left);
	/* The bytes are not an awaited reply; the connection is then closed. */
	void (*nonsense)(struct conn *, const char *why);
	/* It broke, or could not be made. Returns false to keep it open. */
	bool (*lost)(struct conn *, const char *why, int64_t now);
	/* All bytes were sent: there is room for more. May be NULL. */
	void (*room)(struct conn *, int64_t now);
};

/* How all connections of a run are made. */
struct conn_setup {
	struct tls_context *tls; /* NULL: no TLS; borrowed */
	const char *servername;
	char *text; /* AUTH, HELLO, SELECT */
	size_t n;
	unsigned replies;
	int send_room;            /* bytes; 0: the system's default */
	bool zero_miss, tell_nil; /* see scan.h */
	bool missed;              /* conn_client.missed is called */
	bool resume;              /* the TLS session of its last connection */
	bool values;              /* conn_client.value is called */
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
	struct worker *worker; /* of the client */
	struct conn_loop *loop;
	int fd;
	enum conn_state state;
	struct tls *tls;
	struct tls_session *session;     /* to resume, or NULL; owned */
	const struct slotmap_node *node; /* the current one */
	const struct slotmap_node *next; /* NULL, or the node to move to; its
					  * own: it is to be reopened */
	const struct addrinfo *address;  /* being tried; NULL: the first */
	uint32_t events;                 /* registered with epoll */
	uint32_t awaited;                /* replies */
	unsigned setup;   /* awaited replies of AUTH, HELLO, SELECT */
	int64_t since_ns; /* connecting since */
	int64_t down_ns, retry_ns;
	int64_t anew_ns; /* time when a planned reopening began, or 0 */
	struct scan scan;
	char *rest; /* kept bytes; the buffer is reused */
	size_t nrest, rest_at, rest_cap;
	const char *end; /* then 'nend' bytes from here; borrowed */
	size_t nend;

	/* The requests of a client of the load; see run.c. */
	size_t index;         /* over all threads */
	uint32_t refills;     /* awaited replies of refills; they come last */
	uint32_t nredirected; /* its requests that were redirected */
	uint32_t batch;       /* requests made in the last one */
	bool counted;         /* the batch is part of the measured requests */
	bool refused;         /* it could not be reopened, which was counted */
	uint64_t served;      /* answers since it was made, see losses.h */
	uint32_t pool;        /* index of its pool in the worker */
	bool queued;          /* in the idle ring of its pool */
	bool has_client;      /* a client of the cluster has a batch on it */
	uint64_t popped;      /* elements, since the last refill */
	uint32_t again;       /* requests lost with it, to be sent again */
	uint32_t repeats; /* of them, those already counted; they are next */
	int64_t start_ns; /* of the batch, when first sent */
	int64_t first_ns;
	uint64_t first;       /* key of the batch, in order */
	uint32_t todo;        /* commands of the batch not yet made */
	struct cursor cursor; /* 'from': at the start of the batch */
	struct cursor from;
	int64_t *due, *written; /* rings of 'pipeline' entries, open loop */
	uint32_t oldest;
	struct mix_ring ring;          /* what was sent; of a mix only */
	struct verify_queue *expected; /* see verify.h, or NULL; owned */
	struct dealer_list *list; /* of a trace, or NULL; owned by the worker */
};

void conn_open(struct conn *, int64_t now);
void conn_close(struct conn *);
/*
 * Closes an idle connection that is opened again: its port is free at once, and
 * its TLS session is kept if connections resume theirs.
 */
void conn_leave(struct conn *);
void conn_event(struct conn *, uint32_t events);

/* Returns true if kept bytes wait to be sent. */
static inline bool
conn_waits(const struct conn *c)
{
	return c->rest_at < c->nrest || c->nend;
}

/* Awaits n more replies. */
static inline void
conn_await(struct conn *c, uint32_t n)
{
	if (!c->awaited)
		c->loop->busy++;
	c->awaited += n;
}

/* Send bytes, and keep a copy of what the socket has no room for. */
void conn_put(struct conn *, const char *p, size_t n, int64_t now);
void conn_put_parts(struct conn *, const struct iovec *, int n, int64_t now);

/*
 * Like conn_put, if nothing waits. The last 'nend' bytes equal those before
 * 'end', which stay valid: only a pointer to them is kept, so that many
 * connections do not keep copies of large values.
 */
void conn_put_batch(struct conn *, const char *p, size_t n, const char *end,
    size_t nend, int64_t now);

#endif
