/*
 * What the threads of one run share, and what each has of its own. Private to
 * the engine: engine.c makes it, worker.c, tally.c, conn.c and sending.c use
 * it.
 */
#ifndef RUN_H
#define RUN_H

#include "command.h"
#include "engine.h"
#include "err.h"
#include "keys.h"
#include "rng.h"
#include "scan.h"
#include "template.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define RUN_ENDLESS UINT64_MAX
#define RUN_READ_SIZE (64 * 1024)
#define RUN_SECOND INT64_C(1000000000)
#define RUN_SLICE (256 * 1024) /* bytes made at once; to stay in the cache */

struct hist;
struct slotmap;
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

struct detour;
struct later;

struct conn {
	int fd;
	enum conn_state state;
	struct tls *tls;
	struct detour *detour;           /* NULL: one of the clients */
	size_t index;                    /* over all threads */
	const struct slotmap_node *node; /* it is, or will be, connected to */
	const struct slotmap_node *next; /* NULL, or where it belongs now */
	const struct addrinfo *address;  /* of the node; NULL: the first one */
	uint32_t events;                 /* registered with epoll */
	uint32_t awaited;                /* replies, refills included */
	uint32_t refills;                /* of them; they come last */
	uint32_t away;                   /* requests of it on a detour */
	uint32_t batch;                  /* requests made in the last one */
	bool counted;     /* the batch is part of the measured requests */
	uint32_t pool;    /* of the worker, that it belongs to */
	bool queued;      /* among the idle ones of its pool */
	bool client;      /* a client of the cluster has a batch on it */
	unsigned setup;   /* replies of AUTH, HELLO and SELECT to come */
	uint64_t popped;  /* since the last refill */
	uint32_t again;   /* lost with the connection, to be sent again */
	int64_t start_ns; /* of the batch, when it was sent first */
	int64_t since_ns; /* connecting since */
	int64_t first_ns, down_ns, retry_ns;
	struct scan scan;
	char *rest; /* what a short write left; its room is kept */
	size_t nrest, rest_at, rest_cap;
	const char *end; /* what follows that, 'nend' bytes; borrowed */
	size_t nend;
	uint64_t *sequence, here; /* of the numbers; NULL: random */
	uint64_t first;           /* number or key of the batch, in sequence */
	uint32_t todo;            /* commands of the batch not yet made */
	struct course course;     /* of a template; 'from': its batch's */
	struct course from;
	int64_t *due, *written; /* rings of 'pipeline' entries, open loop */
	uint32_t oldest;
};

struct arrivals {
	double gap_ns, next_ns, first_ns;
	uint64_t n;
	bool poisson;
	struct rng rng;
};

struct interval {
	struct hist *hist;
	uint64_t requests;
	int handed; /* threads that gave their part */
	double p50_ms, p99_ms, max_ms;
};

/* The connections of a thread to one node; see pools.h. */
struct pool {
	struct conn **conns; /* all of them, and a ring of the idle ones */
	struct conn **idle;
	size_t nconns, idle_at, nidle, cursor;
	uint64_t until;   /* weights of the nodes, up to this one */
	uint64_t waiting; /* closed loop: clients without a connection */
	int64_t *due;     /* open loop in a cluster: a ring */
	size_t due_at, ndue, due_cap;
	bool full; /* the last search for room found none */
};

struct worker {
	struct run *run;
	int index;
	pthread_t thread;
	bool started;
	pid_t tid;
	int ep;
	struct conn **conns; /* each owned */
	size_t nconns, nclients;
	struct pool *pools;
	size_t npools;
	uint64_t free_clients; /* in a cluster, that draw a node next */
	size_t nready;
	struct rng rng;
	uint64_t turn;
	char *batch; /* 'slice' commands, patched again and again */
	uint32_t slice;
	char *in;
	char *refill;
	struct keys *refill_keys; /* of each node of the map */
	uint64_t refill_at;       /* numbers of the next one */
	uint64_t refill_turn;
	uint64_t refilled;
	uint64_t at, end; /* requests it may make */
	uint64_t warm;    /* numbers in sequence while warming up */
	size_t busy;      /* connections with replies to come */
	struct detour *detours;
	struct later *later; /* requests that an error holds up; see detour.c */
	size_t nlater, later_cap;
	size_t away;    /* requests that take one */
	uint32_t taken; /* of the replies being read */
	bool running, finished;
	bool ending;  /* no more requests are made */
	bool cut;     /* that was before the end of the measured time */
	size_t again; /* connections that have requests to send again */
	int64_t now, tick_ns, last_ns;
	int64_t interval_end;
	size_t interval;
	struct hist *latency, *service; /* of the interval */
	uint64_t counted, interval_counted, misses, refused;
	uint64_t lost, unanswered, reconnects; /* see losses.h */
	uint64_t pushes;
	uint32_t wrong; /* errors that are the answer, in what is read */
	char refusal[192];
	struct engine_error errors[ENGINE_ERRORS];
	size_t nerrors;
	struct slotmap *map;
	/* open loop */
	struct arrivals seen, sent;
	uint64_t share;    /* arrivals in all; RUN_ENDLESS */
	uint64_t measured; /* due in the measured time */
	bool no_pwait2;    /* the kernel has none */
	double max_backlog;
};

/* What the threads of all streams of a run wait at. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t losses; /* under the lock; see losses.h */
	char cause[512]; /* of the first one */
	atomic_bool lost_too_much;
};

struct run {
	struct gate *gate; /* borrowed */
	const struct engine_target *target;
	const struct engine_work *work;
	struct command *command;
	const struct template *template;         /* NULL: a named test */
	_Atomic uint64_t *taken[TEMPLATE_KINDS]; /* of its rows; borrowed */
	_Atomic uint64_t number;                 /* the next one, in sequence */
	struct command *refill;                  /* NULL: nothing is popped */
	struct tls_context *tls;
	char *setup; /* AUTH, HELLO, SELECT */
	size_t nsetup;
	unsigned setup_replies;
	char (*tags)[3];
	uint64_t space;
	size_t only_node; /* seeding: all connections go there; SIZE_MAX */
	bool strict;      /* an error or a lost connection ends it */
	bool sequential;
	bool by_key; /* in a cluster: the key says the node of a request */
	uint32_t pipeline;
	unsigned sequence_step; /* numbers a command takes in sequence */
	int64_t timeout_ns;
	int64_t base;   /* where the schedule counts from: small numbers */
	int64_t start;  /* of the warm-up */
	int64_t t0, t1; /* the measured time; t1 INT64_MAX: by requests */
	uint64_t requests;
	struct worker *workers;
	size_t nworkers;

	_Atomic(struct slotmap *) map;
	atomic_bool stale; /* a MOVED was seen */
	int64_t refresh_ns;
	atomic_int halt; /* 1: asked to stop, 2: failed */

	bool go;       /* under the gate's lock, as what follows */
	bool released; /* the threads may end */
	size_t nready, ndone;
	uint64_t next; /* request not yet handed out */
	bool failed;
	struct interval *intervals;
	size_t nintervals, intervals_cap, closed;
	struct hist *latency, *service;
	uint64_t answered; /* handed in so far, for progress */
};

struct run_options {
	struct command *command, *refill; /* borrowed; refill may be NULL */
	const struct template *template;  /* NULL, or 'command' is its own */
	_Atomic uint64_t *taken[TEMPLATE_KINDS];
	uint64_t space;
	size_t only_node;
	bool strict;
};

/* Two steps to running threads: 0, or -1 and said. Always run_fini. */
int run_init(struct run *, struct gate *, const struct engine_target *,
    const struct engine_work *, const struct run_options *);
int run_start(struct run *);
void run_fini(struct run *); /* of zeroes too; the threads have ended */

int run_check(const struct engine_target *, const struct engine_work *);
uint64_t run_space(const struct engine_work *);

/* Figures of the intervals all threads have left behind. Lock held. */
void run_close_intervals(struct run *, bool all);

/* outcome.c; the threads have ended. */
void run_results(struct run *, struct engine_result *);

/* The first failure is said, the others are its consequences. */
void run_fail(struct run *, const char *fmt, ...) ERR_PRINTF(2, 3);
bool run_halted(const struct run *);
void run_stale(struct run *); /* a MOVED was seen */

/*
 * detour.c: requests that a cluster sent elsewhere (MOVED, ASK), and those that
 * a server cannot answer for the moment (CLUSTERDOWN, TRYAGAIN, LOADING), which
 * go to it again every 50 to 100 ms until half of the timeout is over. Each
 * thread has a connection of its own for them to each such node, made when
 * needed.
 */
#define DETOUR_HOPS 16

/*
 * Takes the request answered by 'line' along, where that says so: the nth of
 * those this connection awaits. False: the reply is the last word.
 */
bool detour_take(
    struct worker *, struct conn *, const char *line, uint32_t nth);
void detour_ready(struct worker *, struct conn *);
void detour_replies(
    struct worker *, struct conn *, int64_t now, const struct scan_tally *);
void detour_check(struct worker *, int64_t now); /* at each tick */
void detour_free(struct worker *);
/* When the oldest request was sent first; how many have no answer yet. */
int64_t detour_oldest(const struct detour *);
uint32_t detour_waiting(const struct detour *);
/* Records the age of those of one, or of all at the end; how many. */
uint64_t detour_give_up(struct worker *, struct detour *, int64_t now);
uint64_t detour_end(struct worker *, int64_t now);

/* conn.c */
void conn_open(struct worker *, struct conn *, int64_t now);
void conn_close(struct worker *, struct conn *);
void conn_lost(struct worker *, struct conn *, const char *why, int64_t now);
void conn_event(struct worker *, struct conn *, uint32_t events);
void conn_await_room(struct worker *, struct conn *); /* to send */

/* sending.c */
bool conn_waits(const struct conn *); /* for room to send */
/* Sends n commands, with refills where due. */
void conn_send(struct worker *, struct conn *, uint32_t n, int64_t now);
/* The same where c->course says already what a template makes. */
void conn_send_same(struct worker *, struct conn *, uint32_t n, int64_t now);
/* Bytes that the caller counts the replies of. */
void conn_put(
    struct worker *, struct conn *, const char *p, size_t n, int64_t now);
/* What waits, now that there is room; then the rest of the batch. */
void conn_flush(struct worker *, struct conn *, int64_t now);

/* worker.c, called by conn.c */
/* The connection is ready, for the first time or again. */
void worker_ready(struct worker *, struct conn *, int64_t now);
void worker_replies(
    struct worker *, struct conn *, int64_t now, const struct scan_tally *);
/* How many requests the next batch may have; sets c->counted. */
uint32_t worker_take(struct worker *, struct conn *, int64_t now);
/* Sets where the numbers of the next n requests come from. */
void worker_sequence(struct worker *, struct conn *, uint32_t n);
/* The same, of a template. */
void worker_course(struct worker *, struct conn *, uint32_t n);
void *worker_main(void *worker);

void worker_check(struct worker *, struct conn *, int64_t now);

/* A request that was away, and is answered. 'due' in open loop. */
struct away {
	struct conn *conn; /* whose it is */
	int64_t start_ns, due;
	bool counted;
};
void worker_back(
    struct worker *, const struct away *, int64_t now, struct scan_tally *);

/*
 * remap.c: the worker goes on with that map. Connections keep their node where
 * it is still there, others are opened.
 */
void remap_worker(struct worker *, struct slotmap *);

/* openloop.c */
void openloop_start(struct worker *, int64_t now);
void openloop_dispatch(struct worker *, int64_t now);
void openloop_replies(
    struct worker *, struct conn *, int64_t now, uint32_t replies);
void openloop_back(struct worker *, const struct away *, int64_t now);
/* Takes the times of the nth request it awaits; no latency will be counted. */
void openloop_away(struct worker *, struct conn *, uint32_t nth, struct away *);
bool openloop_done(const struct worker *);
int64_t openloop_next(const struct worker *);
/* What was due but never sent waited at least so long. */
void openloop_unsent(struct worker *, int64_t now);

/* tally.c: what a thread counts, and gives to the run once a second. */
void worker_error(struct worker *, const char *kind, const char *text);
/* Counts n requests and their latency in the worker's interval. */
void worker_record(struct worker *, int64_t ns, uint32_t n);
/* The latency of n that were answered after the measured time: no requests. */
void worker_record_late(struct worker *, int64_t ns, uint32_t n);
/* The interval ends, if only because time went on. */
void worker_interval(struct worker *, int64_t now);
/* The intervals before that one are the run's. Lock held. */
void worker_hand_over(struct worker *, size_t until);

#endif
