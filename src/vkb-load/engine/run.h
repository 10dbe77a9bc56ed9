/*
 * The data of a run, shared and for each thread. Private to the engine; made by
 * threads.c.
 */
#ifndef RUN_H
#define RUN_H

#include "chooser.h"
#include "cmdsource.h"
#include "conn.h"
#include "engine.h"
#include "err.h"
#include "keys.h"
#include "ratespec.h"
#include "rng.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

struct dealer;
struct dealer_outbox;
struct delayed_request;
struct hist;
struct intern;
struct redirect;
struct slotmap;
struct verify_checks;
struct worker;

#define RUN_ENDLESS UINT64_MAX
#define RUN_WHOLE (UINT64_MAX - 1) /* of a trace: until its end */
#define RUN_SECOND INT64_C(1000000000)
#define RUN_SLICE (256 * 1024) /* bytes made at once, to stay in the cache */

/*
 * Arrivals: when the requests of a stream are sent, and which latency is
 * recorded for them.
 */

/* The schedule of a thread in open loop, in ns since its base. */
struct schedule {
	const struct arrivals *kind;
	double gap_ns, next_ns, first_ns; /* gap_ns: on average */
	uint64_t n;
	struct rng rng;
	/* Of a rate that changes: the arrivals of all threads until next_ns,
	 * those between two of this thread, and when they are due. */
	double due, threads;
	struct ratespec_timing timing;
};

/* A redirected request; 'due' only in open loop. */
struct redirected {
	struct conn *conn; /* the client's connection */
	int64_t start_ns, due;
	bool counted;
	size_t part; /* of a mix */
};

/* What a thread does with its connections; the closed or the open loop. */
struct pacing {
	/* Sends on a connection that awaits no reply, or keeps it for later. */
	void (*idle)(struct worker *, struct conn *, int64_t now);
	/* Sends what is due, and on connections that were kept; or NULL. */
	void (*dispatch)(struct worker *, int64_t now);
	/*
	 * Open loop only, else NULL: begins the schedule, or continues it
	 * in a further slice; returns when the next request is due;
	 * ends a slice, and with the last one records the age of
	 * requests that were due but never sent; whether all of a number of
	 * requests were sent; takes the times of the nth awaited request, whose
	 * latency 'answered' does not count then.
	 */
	void (*start)(struct worker *);
	int64_t (*next)(const struct worker *);
	void (*stop)(struct worker *, int64_t now);
	bool (*sent)(const struct worker *);
	void (*take_times)(
	    struct worker *, struct conn *, uint32_t nth, struct redirected *);
	/*
	 * Record the latency of n answered requests, or of one that was
	 * redirected. Return true if they count as measured.
	 */
	bool (*answered)(
	    struct worker *, struct conn *, int64_t now, uint32_t n);
	bool (*redirected)(
	    struct worker *, const struct redirected *, int64_t now);
	bool (*done)(struct worker *); /* nothing is left to send or receive */
};

struct arrivals {
	const struct pacing *pacing;
	/* Open loop only: set next_ns to the first, to the next arrival. */
	void (*begin)(struct schedule *);
	void (*advance)(struct schedule *); /* also counts n up */
};

/* Returns the arrivals that the work asks for. */
const struct arrivals *arrivals_find(const struct engine_work *);

struct interval {
	struct hist *hist;
	uint64_t requests;
	double length_s; /* a second, until its end is known */
	int64_t start_ns;
	uint64_t errors; /* of this time, measured or not */
	double p50_ms, p99_ms, max_ms;
};

/* What the requests of a thread got: all of them, or those of a part of a mix
 * or of a command of a trace. */
struct part {
	struct hist *latency, *service; /* of 'all': of the interval */
	uint64_t counted, misses, refused, lost, unanswered; /* see losses.h */
	/* Of the replies being read: those of a part but for those taken; those
	 * taken by redirect.h; misses of a part; error replies that count. */
	uint32_t n, taken, missed, wrong;
	char refusal[192];
	struct engine_error errors[ENGINE_ERRORS];
	size_t nerrors;
};

/* The connections of a thread to one node; see pools.h. */
struct pool {
	struct conn **conns; /* all of them, and a ring of the idle ones */
	struct conn **idle;
	size_t nconns, idle_at, nidle, cursor;
	uint64_t until;   /* sum of node weights, this one included */
	uint64_t waiting; /* closed loop: clients without a connection */
	int64_t *due;     /* open loop in a cluster: a ring of due times */
	size_t due_at, ndue, due_cap;
	bool full; /* the last search for room found none */
};

struct worker {
	struct run *run;
	int index;
	pthread_t thread;
	bool started;
	pid_t tid;
	struct conn_loop loop;
	struct conn **conns; /* each owned */
	size_t nconns, nclients;
	struct pool *pools;
	size_t npools;
	uint64_t free_clients; /* in a cluster: those to draw a node */
	struct cursor scout;   /* where keys decide the node, see cmdsource.c */
	struct mix_ring scout_ring;
	char *scouted;
	struct rng rng;
	char *batch; /* requests, RUN_SLICE bytes and one more */
	char *refill;
	struct cursor refill_cursor;
	uint64_t refilled;
	uint64_t at, end; /* requests it may make */
	uint64_t warm;    /* closed loop: commands in order, warming up */
	struct redirect *redirects;
	struct delayed_request *later; /* sent again after a passing error */
	size_t nlater, later_cap;
	size_t nredirected; /* requests redirected or waiting */
	bool external;
	bool ending;  /* no more requests are made */
	bool cut;     /* 'ending' came before the measured time was over */
	size_t again; /* connections that have requests to send again, or are
		       * reopened */
	struct hist *connect;       /* how long that took; or NULL */
	uint64_t connects, resumed; /* measured; TLS sessions of them */
	int64_t storm_ns;           /* the next one; INT64_MAX: none */
	int64_t tick_ns, last_ns;
	size_t slice; /* the one it runs or ran last */
	int64_t interval_end;
	size_t interval; /* SIZE_MAX after the last, but not in slices */
	struct part all;
	uint64_t interval_counted;
	uint64_t errors_handed; /* errors that earlier intervals had */
	uint64_t answered;      /* measured or not */
	uint64_t reconnects;    /* see losses.h */
	struct slotmap *map;
	/* open loop */
	struct schedule seen, sent;
	int64_t base;    /* its origin; it moves on while other servers run */
	int64_t stopped; /* end of the last slice */
	struct window *windows; /* of its slices */
	size_t nwindows, windows_cap;
	uint64_t share;    /* arrivals in all; RUN_ENDLESS */
	uint64_t measured; /* arrivals that count */
	double first_due;  /* of them, in ns since the base */
	double last_due;   /* the same of a trace, since its start */
	bool no_pwait2;    /* the kernel has none */
	double max_backlog;
	/* Of a mix or, as they come, of a trace, see counters.h; or NULL. */
	struct part *parts;
	size_t nparts, parts_cap;
	struct intern *names;         /* of the parts of a trace, or NULL */
	struct dealer *dealer;        /* of a trace, or NULL */
	struct dealer_outbox *outbox; /* the same; owned by the dealer */
	struct verify_checks *checks; /* of a load that is verified, or NULL */
	struct conn_client client;    /* of its connections */
};

/* What is measured of a slice, or of all, in ns since the thread's base. */
struct window {
	int64_t begin; /* a number of requests counts from here on */
	int64_t from, to;
};

/* The lock and condition of all threads of all streams of a run. */
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
	const struct cmdsource *source;
	const struct cmdsource *refill; /* NULL: nothing is popped */
	const struct chooser *chooser;  /* owned */
	const struct arrivals *arrivals;
	_Atomic uint64_t *taken[CMDSOURCE_COUNTERS]; /* borrowed */
	struct conn_setup setup;
	char (*tags)[3];
	uint64_t space;
	size_t only_node;  /* seeding: index of the only node; else SIZE_MAX */
	bool strict;       /* an error or a lost connection ends it */
	bool kept;         /* what a verified load wrote stays, see verify.h */
	bool by_key;       /* in a cluster: the key decides the node */
	uint32_t pipeline; /* whole texts, see mix.h */
	uint32_t together;
	int64_t timeout_ns;
	int64_t start;  /* of the warm-up */
	int64_t from;   /* requests begun from here on are counted */
	int64_t t0, t1; /* the measured time; t1 INT64_MAX: no end is set */
	int64_t began;  /* t0 of the first slice */
	int64_t sliced_ns, active_ns; /* measured and whole time of slices */
	double slice_s; /* measured time of the current slice; or 0 */
	bool idle;      /* takes no part in this slice */
	bool pauses;    /* another slice follows */
	uint64_t requests;
	uint64_t first; /* number of its first request, in a shared load */
	struct worker *workers;
	size_t nworkers;

	_Atomic(struct slotmap *) map;
	atomic_bool stale; /* a MOVED was seen */
	int64_t refresh_ns;
	atomic_int halt; /* 1: asked to stop, 2: failed */

	bool released; /* under the gate's lock, as what follows: threads may
			  end */
	size_t nready, ndone;
	uint64_t next; /* the next request to hand out */
	bool failed;
	size_t slice; /* begun so far; an ordinary run has one */
	struct interval *intervals;
	size_t nintervals, intervals_cap, closed;
	size_t told; /* intervals given to engine_meter.ended */
	bool tells;  /* it is there: histograms are kept until then */
	struct hist *latency, *service;
	uint64_t answered; /* handed in so far, for progress */

	/* Open loop, without the lock: of the next command in order. */
	_Atomic uint64_t number;

	atomic_int replayed; /* thousandths of the trace that were read */
};

struct run_options {
	struct cmdsource *source, *refill; /* borrowed; refill may be NULL */
	_Atomic uint64_t *taken[CMDSOURCE_COUNTERS];
	uint64_t space;
	size_t only_node;
	bool strict;
};

/* Returns 0, or -1 after reporting that the work is not valid. */
int run_check(const struct engine_target *, const struct engine_work *);
uint64_t run_space(const struct engine_work *);

/* Returns whole * i / n, rounded down, without overflow; where a part begins in
 * what all parts of a load share, 0 without parts; the requests of all parts.
 */
uint64_t run_bound(uint64_t whole, uint64_t i, uint64_t n);
uint64_t run_begin_share(const struct engine_work *, uint64_t whole);
long long run_all_requests(const struct engine_work *);

/*
 * Makes room for one more of n elements in a ring that begins at *at, whose
 * size is a power of two, or 0: moves it if there is none. Returns the ring.
 */
void *run_grow_ring(void *, size_t *at, size_t n, size_t *cap, size_t size);

/* Reports the first failure; later ones are its consequences. */
void run_fail(struct run *, const char *fmt, ...) ERR_PRINTF(2, 3);
void run_mark_stale(struct run *); /* a MOVED was seen */

/* The servers are filled node by node, as one reading of the slots has them. */
#define RUN_MOVED                                              \
	"slots of the cluster moved while it was filled: run " \
	"again when they stay"

static inline bool
run_halted(const struct run *r)
{
	return atomic_load_explicit(&r->halt, memory_order_relaxed) != 0;
}

static inline bool
run_by_duration(const struct run *r)
{
	return r->requests == RUN_ENDLESS;
}

static inline bool
run_is_open(const struct run *r)
{
	return r->arrivals->pacing->next != NULL;
}

/* Has it made all its requests? False without a number of requests. */
bool run_is_made(const struct run *);

/* Returns how many refills a thread has room for: those of a full batch. */
static inline uint32_t
run_most_refills(const struct run *r)
{
	return r->pipeline / r->refill->values + 1;
}

/*
 * Takes a further share of the requests of the run. Returns false if none is
 * left.
 */
bool run_take_share(struct worker *);

/* Returns how many requests the next batch may have; sets c->counted. */
static inline uint32_t
run_take(struct worker *w, struct conn *c, int64_t now)
{
	struct run *r = w->run;
	uint64_t n = r->pipeline;

	if (now >= r->t1)
		w->ending = true;
	if (w->ending)
		return 0;
	c->counted = now >= r->from;
	if (!c->counted || (run_by_duration(r) && !r->chooser->ordered))
		return r->pipeline;
	if (w->at == w->end && !run_take_share(w)) {
		w->ending = true;
		return 0;
	}
	if (n > w->end - w->at)
		n = w->end - w->at;
	w->at += n;
	return (uint32_t)n;
}

/* Times of requests in open loop that are not to be recorded. */
#define RUN_NOT_COUNTED (-2)  /* nor counted */
#define RUN_NOT_MEASURED (-1) /* but counted: in the head of a slice */

/*
 * Prepare and start the threads of a run. Return 0, or -1 after reporting an
 * error. The caller calls threads_free in any case.
 */
int threads_init(struct run *, struct gate *, const struct engine_target *,
    const struct engine_work *, const struct run_options *);
int threads_start(struct run *);
void threads_free(struct run *); /* may be all zero; the threads have ended */

/* Sends n commands, with refills where due. */
void run_send(struct worker *, struct conn *, uint32_t n, int64_t now);
/* As run_send, but continues from c->cursor. */
void run_send_again(struct worker *, struct conn *, uint32_t n, int64_t now);
/*
 * Open loop: the next n requests of a cursor, which are sent in place of others
 * whose numbers are not known, get numbers that no request has had.
 */
void run_renew(struct worker *, struct conn *, struct cursor *, uint32_t n);
/* Makes and sends the rest of the batch, as far as there is room. */
void run_continue(struct conn *, int64_t now);

#endif
