/*
 * The native load engine: RESP over epoll, one event loop per thread, latency
 * of each request recorded in histograms of the thread. It knows nothing of
 * records; times are in the units their names say.
 *
 * engine_run does one measured run, engine_seed fills the servers for it.
 *
 * What is counted: by duration, what is answered within the measured time; by
 * requests, exactly so many, made after the warm-up. In open loop, what is due
 * within the measured time: it may be answered later, and what could not even
 * be sent within 0.1 s of the end is a latency (of its age) but no request.
 * An error reply is an answer, and an error; engine_result.refused says how
 * many of the requests got nothing else, and whether that is too many is the
 * caller's to judge. A connection lost is an error; it
 * is made again, and what it still had to answer is asked anew.
 *
 * In a cluster each client has a connection to each primary, and sends a batch
 * to the one that holds its keys; in open loop each request waits for its own
 * node only. See pools.h. MOVED and ASK
 * are errors that end nothing: the request is sent again to the node they name
 * (up to 16 times, over a further connection), and its latency ends with the
 * answer from there; after a MOVED the slots are read again. A request that
 * the server cannot answer for the moment (CLUSTERDOWN, TRYAGAIN, LOADING) is
 * sent again every 50 to 100 ms, until half of the timeout is over, and then is
 * refused. Each such reply is counted among the errors. Keys, members and
 * collections stay in their slots.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dataset_want;
struct hist;
struct rowset;

struct engine_node {
	const char *host;
	int port;
	const char *unixsocket; /* used instead of host:port where not NULL */
	int pid;                /* 0: not on this host (no server metrics) */
};

struct engine_target {
	const struct engine_node *nodes; /* primaries; [0] is the first asked */
	size_t nnodes;
	bool cluster; /* slots are read with CLUSTER SLOTS */
	bool tls;
	const char *cacert, *cert, *key; /* paths; NULL where not used */
	const char *servername;          /* SNI and the name that is verified */
	const char *user, *password;
	int db;
	double timeout_s;   /* of questions outside of the load; 0: 60 */
	const char *prefix; /* of each key; NULL: none */
};

enum engine_arrivals { ENGINE_CONSTANT, ENGINE_POISSON };

struct engine_work {
	const char *command; /* a named test: SET, LRANGE_100, ... */
	const char *text;    /* or, not NULL: a template, see template.h */
	const struct rowset *rows; /* of what its __field:NAME__ name; NULL */
	const struct dataset_want *data; /* the caller's: where they are from */
	long long data_size;             /* bytes */
	long long keyspacelen;           /* 0: one key */
	int pipeline;
	int clients; /* over all threads; in a cluster, one connection each to
			each node, else one */
	int threads;
	long long requests; /* stop after so many; 0: by duration */
	double duration_s;
	double warmup_s; /* served before, not counted */
	bool sequential; /* each key once, then again */
	bool resp3;      /* HELLO 3, else RESP2 */
	uint64_t seed;
	const cpu_set_t *cpus; /* of the client threads; NULL: as it is */
	bool batch_first_byte; /* latency as valkey-benchmark defines it */
	double rate;           /* requests/s, open loop; 0: closed loop */
	enum engine_arrivals arrivals;
	double timeout_s;   /* a request waits so long for its reply; 0: 60 */
	long long max_lost; /* lost, unanswered and reconnects together */
};

struct engine_error {
	char kind[64];  /* "MOVED", "OOM", "connection lost", ... */
	char text[192]; /* first one seen, whole */
	uint64_t count;
};

struct engine_interval { /* about one second each */
	double at_s;     /* its end, since the start of the measured time */
	double length_s;
	uint64_t requests;
	double p50_ms, p99_ms, max_ms;
};

#define ENGINE_ERRORS 32

/* NAN where a figure could not be had. */
struct engine_result {
	uint64_t requests; /* answered in the measured time; 0 with an rps:
			      unknown */
	int64_t start_ns, end_ns; /* of that time, by CLOCK_MONOTONIC */
	double elapsed_s;
	double rps;
	struct hist *latency; /* ns; response time in open loop; owned */
	struct hist *service; /* open loop only, else NULL; owned */
	double avg_ms, min_ms, p50_ms, p95_ms, p99_ms, p999_ms, max_ms;
	struct engine_interval *intervals; /* owned */
	size_t nintervals;
	struct engine_error errors[ENGINE_ERRORS];
	size_t nerrors;
	uint64_t errors_total;
	bool errors_unknown; /* that number says nothing */
	uint64_t refused;    /* of the requests: the answer was an error */
	char refusal[192];   /* the first such answer */
	double lost;         /* requests whose connection broke, sent again */
	double unanswered;   /* requests without a reply in time, or at all */
	double reconnects;   /* connections that broke, and were opened again */
	double pushes;       /* push messages; NAN without RESP3 */
	double hit_rate_percent;         /* reads that got something */
	double offered_rps, max_backlog; /* open loop; NAN in closed loop */
	uint64_t refilled; /* elements put back while popping, see above */
};

struct engine_progress {
	double done;        /* 0..1 of the whole, warm-up included */
	double rps, p99_ms; /* of the last interval */
	bool seeding, warmup;
};

/* Called about four times a second from the calling thread; may be NULL. */
typedef void engine_progress_fn(void *arg, const struct engine_progress *);

/*
 * Told of the measured time of a run, by the calling thread: 'connected' once,
 * with the threads that make the load; then 'begin' and 'end' while they live.
 */
struct engine_meter {
	void (*connected)(void *arg, const pid_t *tids, size_t n);
	void (*begin)(void *arg);
	void (*end)(void *arg);
	void *arg;
};

/* Names of the tests this engine knows, NULL ends the list; static. */
const char *const *engine_commands(void);
bool engine_reads(const char *command); /* needs seeding with data */

/*
 * Fills the servers for 'w' (nothing to do for commands that need nothing).
 *
 * What is popped (LPOP, RPOP, SPOP, ZPOPMIN): a run of known length without
 * warm-up gets one element for each request. Otherwise, or where that is more
 * than 10 million or 1 GiB, a million elements are seeded and engine_run tops
 * them up: each connection, after so many pops as one command can hold
 * elements, sends such a command behind its batch. It is not counted as a
 * request, its time is not a latency, but the server's CPU time includes it;
 * engine_result.refilled says how much there was. hit_rate_percent says what
 * part of the pops got something.
 *
 * 0, or -1 and said. *stop as in engine_run.
 */
int engine_seed(const struct engine_target *, const struct engine_work *,
    const volatile int *stop, engine_progress_fn *, void *arg);

/*
 * Runs n streams of work at the same time, each with its connections, threads
 * and rate. All connect before the first request is sent, then one gate starts
 * them. Each ends by its duration or its requests; 'results' has one for each,
 * whose histograms hist_merge adds up. 'meter' may be NULL.
 *
 * 0, or -1 and said. *stop is polled: when it becomes non-zero the run ends
 * early with -1, and when one stream fails all do. What was measured until
 * then stands in the results that have requests. Free each of them with
 * engine_result_free in any case.
 */
int engine_run(const struct engine_target *, const struct engine_work *works,
    size_t n, const volatile int *stop, engine_progress_fn *, void *arg,
    const struct engine_meter *, struct engine_result *results);
void engine_result_free(struct engine_result *);

#endif
