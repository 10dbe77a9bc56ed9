/*
 * The native load generator: RESP over epoll, one event loop per thread, the
 * latency of each request in histograms of the thread. It does not know
 * records; the names have the units.
 *
 * engine_run does one measured run, engine_seed fills the servers for it.
 *
 * What is counted: by duration, the requests answered within the measured time;
 * by requests, exactly that many, after the warm-up. In open loop the latencies
 * are those of the requests due within the measured time, also if answered
 * later; one that could not be sent within 0.1 s after the end adds its age. An
 * error reply is an answer and an error; engine_result.refused counts the
 * requests with no other answer, and the caller decides how many are too many.
 * A lost connection is an error; it is opened again, and its unanswered
 * requests are sent again.
 *
 * In a cluster each client has a connection to each primary, and sends a batch
 * to the one that holds its keys; in open loop each request waits only for its
 * own node, see pools.h. MOVED and ASK are errors that do not end the run: the
 * request is sent to the node they name (up to 16 times, over a further
 * connection), and its latency ends with the answer from there; after a MOVED
 * the slots are read again. A request that the server cannot answer for the
 * moment (CLUSTERDOWN, TRYAGAIN, LOADING) is sent again every 50 to 100 ms
 * until half of the timeout is over, and is then refused. Each such reply is
 * counted as an error. Keys, members and collections stay in their slots.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "command.h"
#include "keyspec.h"
#include "mixspec.h"
#include "ratespec.h"
#include "tls.h"
#include "valuespec.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dataset_want;
struct hist;
struct rowset;
struct tls_context;
struct verify_written;

struct engine_node {
	const char *host;
	int port;
	const char *unixsocket; /* used instead of host:port where not NULL */
	int pid;                /* 0: not on this host (no server metrics) */
};

struct engine_target {
	const struct engine_node *nodes; /* primaries; [0] is asked first */
	size_t nnodes;
	/* Replicas, if the load reads from them: their cost counts, too. */
	const struct engine_node *replicas;
	size_t nreplicas;
	bool cluster;            /* slots are read with CLUSTER SLOTS */
	struct tls_context *tls; /* made of 'how'; NULL: no TLS; borrowed */
	struct tls_options how;
	bool resume; /* reopened connections resume their TLS session */
	const char *servername; /* SNI and the name that is verified */
	const char *user, *password;
	int db;
	double timeout_s;   /* of commands outside of the load; 0: 60 */
	const char *prefix; /* of each key, or NULL */
};

enum engine_arrivals { ENGINE_CONSTANT, ENGINE_POISSON };

/* What the connections of a load do beside sending requests. */
struct engine_conns {
	/*
	 * They are closed and opened again, see losses.h: each after so many
	 * requests, rounded up to whole batches, and all at once every so many
	 * seconds; 0: they stay.
	 */
	long long reconnect;
	double storm_s;
	bool tracking, bcast; /* CLIENT TRACKING ON, BCAST; needs RESP3 */
	bool replicas;        /* go to replicas, for commands that only read */
};

struct engine_work {
	const char *command; /* a named test, see command.h, else a template */
	const struct rowset *rows;       /* for __field:NAME__, or NULL */
	const struct dataset_want *data; /* for the caller: the rows' source */
	long long data_size;             /* bytes */
	long long keyspacelen;           /* 0: one key */
	int pipeline;
	int clients; /* over all threads; in a cluster, one connection each to
			each node, else one */
	int threads;
	long long requests; /* stop after so many; 0: by duration */
	double duration_s;
	double warmup_s; /* before the measured time, not counted */
	struct keyspec keys;
	bool in_turn; /* fill the servers over one connection, in batches
		       * that a server reads at once: always in one way */
	bool resp3;   /* HELLO 3, else RESP2 */
	uint64_t seed;
	const cpu_set_t *cpus; /* of the client threads; NULL: inherited */
	bool batch_first_byte; /* latency as valkey-benchmark defines it */
	double rate;           /* requests/s, open loop; 0: closed loop; the
				* mean of 'ramp' if that changes */
	enum engine_arrivals arrivals;
	double timeout_s;   /* of the reply to a request */
	long long max_lost; /* lost, unanswered and reconnects together */
	/* Of a load that several programs share, see engine_share_work; 0: one
	 * makes it.
	 */
	unsigned part, parts;
	long long all_requests;  /* of all parts; 0: by duration */
	struct valuespec values; /* n 0: constant, data_size bytes each; else
				    data_size is the mean */
	struct command_options options; /* of the named tests */
	/*
	 * A mix, if it has parts: each request is drawn from them by weight,
	 * or they come in turn. 'command' is its name in messages. Commands
	 * that pop are not refilled.
	 */
	const struct mixspec_part *mix;
	size_t nmix;
	bool in_order;
	struct ratespec ramp; /* a rate that changes over the measured time,
			       * which duration_s gives; else all 0 */
	/*
	 * A trace, see tracefile.h; NULL: none. 'command' is then only its
	 * name, in messages. It is sent until its end, or the first 'requests'
	 * of its commands, or for the duration.
	 */
	const char *replay;
	double replay_speed; /* of its times; 0: closed loop, as fast as
			      * possible */
	struct engine_conns conns;
	bool verify; /* what is written depends on its key, and what is read is
		      * compared with it, see verify.h */
	bool filled; /* engine_seed has filled the servers for it */
	const struct verify_written
	    *known; /* values that are there; NULL: unknown */
};

struct engine_error {
	char kind[64];  /* "MOVED", "OOM", "connection lost", ... */
	char text[192]; /* the first one */
	uint64_t count;
};

#define ENGINE_MISMATCHES 3
struct engine_verified { /* values that were read, measured or not */
	bool on;         /* the load was verified; else the rest is 0 */
	uint64_t checked, errors, missing;
	char first[ENGINE_MISMATCHES][512]; /* what the first errors were */
	size_t nfirst;
};

struct engine_interval { /* about one second each, or one slice */
	double at_s;     /* end, since the measured time began */
	double length_s;
	uint64_t requests;
	double p50_ms, p99_ms, max_ms;
	double offered_rps; /* of a rate that changes; else 0 */
};

#define ENGINE_ERRORS 32

/* NAN: not known. */
struct engine_result {
	uint64_t requests; /* answered in the measured time; 0 with an rps:
			      unknown */
	int64_t start_ns, end_ns; /* of the measured time, by CLOCK_MONOTONIC */
	double elapsed_s;
	double rps;
	struct hist *latency; /* ns; response time in open loop; owned */
	struct hist *service; /* open loop only, else NULL; owned */
	struct engine_interval *intervals; /* owned */
	size_t nintervals;
	struct engine_error errors[ENGINE_ERRORS];
	size_t nerrors;
	uint64_t errors_total;
	bool errors_unknown; /* errors_total is not known */
	uint64_t refused;    /* requests answered by an error */
	char refusal[192];   /* the first such answer */
	double lost;         /* requests whose connection broke, sent again */
	double unanswered;   /* requests without a reply in time, or at all */
	double reconnects;   /* connections that broke, and were opened again */
	double pushes;       /* push messages; NAN without RESP3 */
	double hit_rate_percent;         /* reads that got something */
	double offered_rps, max_backlog; /* open loop; NAN in closed loop */
	uint64_t refilled; /* elements put back, see engine_seed */
	/* In slices: between the meter's begin and end. */
	double active_s;   /* time in which this load was running */
	uint64_t answered; /* requests, those that are not measured as well */
	/* Of each part of a mix, or command of a trace, without intervals;
	 * owned. */
	struct engine_result *parts;
	size_t nparts;
	char *name;          /* of a command of a trace, else NULL; owned */
	double capacity_rps; /* found by a search; 0: there was none */
	/* Reopened connections on purpose; if there is no histogram, none is.
	 */
	struct hist *connect; /* ns until they were ready; owned */
	double connects;      /* in the measured time */
	double resumed;       /* of them, TLS sessions; NAN without TLS */
	struct engine_verified verified;
	struct verify_written *written; /* by a verified load, for
					 * verify_read_back; or NULL; owned */
	/* Commands of a trace that were not sent; the text says why. */
	struct engine_error omitted[ENGINE_ERRORS];
	size_t nomitted;
};

struct engine_progress {
	double done;        /* 0..1, warm-up included */
	double rps, p99_ms; /* of the last interval */
	bool seeding, warmup;
	bool reading;     /* back what was written, see verify.h */
	size_t trial;     /* of a search, from 1; 0: there is none */
	double low, high; /* the capacity is between them; 0: not known yet */
};

/* Called about four times a second from the calling thread; may be NULL. */
typedef void engine_progress_fn(void *arg, const struct engine_progress *);

/* An interval of a stream that has ended, see engine_interval. */
struct engine_ended {
	size_t stream;    /* its number in 'works' */
	int64_t start_ns; /* by CLOCK_MONOTONIC */
	double length_s;
	uint64_t requests, errors;  /* errors also of what is not measured */
	const struct hist *latency; /* NULL: nothing was answered; borrowed */
};
typedef void engine_ended_fn(void *arg, const struct engine_ended *);

/*
 * Callbacks around the measured time of a run, in the calling thread, each of
 * which may be NULL: 'connected' once, with the threads that make the load;
 * then 'begin' and 'end' while they live. 'when' is called after 'connected'
 * and returns the time, by CLOCK_MONOTONIC in ns, at which the measured time
 * begins after a warm-up of that many seconds; a time that is over is now. -1
 * ends the run; the error was reported. It is not called in slices. 'ended' is
 * called for the intervals of each stream in order, up to a second after they
 * ended, and for the last ones after the run.
 */
struct engine_meter {
	void (*connected)(void *arg, const pid_t *tids, size_t n);
	void (*begin)(void *arg);
	void (*end)(void *arg);
	void *arg;
	int64_t (*when)(void *when_arg, double warmup_s);
	void *when_arg;
	engine_ended_fn *ended;
	void *ended_arg;
};

/*
 * Fills the servers for 'w' (does nothing for commands that need no data).
 * Values whose sizes differ depend on the number of the command that writes
 * them, so that each run finds the same ones.
 *
 * For commands that pop (LPOP, RPOP, SPOP, ZPOPMIN): a run of known length
 * without warm-up gets one element for each request. Otherwise, or if that is
 * more than 10 million elements or 1 GiB, a million are seeded and engine_run
 * refills: after as many pops as a command can hold elements, a connection
 * sends such a command behind its batch. A refill is neither a request nor a
 * latency, but the server's CPU time includes it; engine_result.refilled counts
 * the elements, and hit_rate_percent is the percentage of pops that got one.
 *
 * Returns 0, or -1 after reporting an error. *stop as in engine_run.
 */
int engine_seed(const struct engine_target *, const struct engine_work *,
    const volatile int *stop, engine_progress_fn *, void *arg);

/* Returns how many keys or elements engine_seed writes for a named command. */
double engine_count_seeds(const struct engine_target *,
    const struct engine_work *, const char *command);

/* Returns true if a run of 'w' refills what it pops, see engine_seed. */
bool engine_refills(const struct engine_target *, const struct engine_work *);

/*
 * Runs n streams of work at the same time, each with its connections, threads
 * and rate. All connect before the first request is sent, then all start
 * together. Each ends by its duration or its requests; 'results' has one for
 * each stream. 'meter' may be NULL.
 *
 * Returns 0, or -1 after reporting an error. *stop is polled: when it becomes
 * non-zero the run ends early with -1, and when one stream fails all end.
 * Partial results are in those with requests. The caller frees each result with
 * engine_result_free in any case.
 */
int engine_run(const struct engine_target *, const struct engine_work *works,
    size_t n, const volatile int *stop, engine_progress_fn *, void *arg,
    const struct engine_meter *, struct engine_result *results);
void engine_result_free(struct engine_result *);

/* The load of one of several servers, see engine_run_slices. */
struct engine_load {
	const struct engine_target *target;
	const struct engine_work *works; /* n streams */
	size_t n;
	const struct engine_meter *meter; /* or NULL */
	struct engine_result *results;    /* n */
};

/*
 * Loads n servers interleaved, each for a slice of 20 to 200 ms, in random
 * order within each turn, until each was measured for its duration. What
 * disturbs the machine for longer than a slice disturbs all of them. Where 200
 * ms are not enough for 200 batches and five of each client, there is one turn.
 * A slice begins with idle connections and ends when all replies have come; its
 * first tenth is not measured. All works of all loads must have the same
 * duration or number of requests; all loads have the same roles. The warm-up of
 * each load comes before the first turn.
 *
 * In open loop the schedule of arrivals stands still between the slices, and
 * slices are so long that 200 requests are due, up to 200 ms. What was due and
 * could not be sent yet is sent in the next slice; its age counts without the
 * time between.
 *
 * A number of requests is made exactly, in as many slices as that takes, the
 * last of which is shorter. All of them count as requests, also those outside
 * of the measured parts, to which rate and latencies belong; elapsed_s is then
 * the time in which the load was running. All of the first slice is measured;
 * without a warm-up it tells how long the others are.
 *
 * Otherwise as engine_run. The results' intervals are the slices; the meters
 * begin before the first turn and end after the last.
 */
int engine_run_slices(const struct engine_load *, size_t n, uint64_t seed,
    const volatile int *stop, engine_progress_fn *, void *arg);

/*
 * Returns what one of several programs, mostly on several hosts, makes of a
 * work: its clients, requests and rate, with random numbers of its own. All
 * parts together make exactly the whole; the work has a client for each at
 * least. 'part' counts from 1.
 */
struct engine_work engine_share_work(
    const struct engine_work *, unsigned part, unsigned parts);

/* The commands of a work, those of its mix or its only one: the name of a test
 * or a template. */
static inline size_t
engine_count_commands(const struct engine_work *w)
{
	return w->nmix ? w->nmix : 1;
}

static inline const char *
engine_command(const struct engine_work *w, size_t i)
{
	return w->nmix ? w->mix[i].command : w->command;
}

/* Do its keys count up? */
static inline bool
engine_is_ordered(const struct engine_work *w)
{
	return w->keys.kind == KEYSPEC_SEQUENTIAL;
}

/* Sets what the engine counts beside requests and errors to NAN: a part of a
 * load, or another program that makes it, does not count all of it. */
void engine_result_set_unknown(struct engine_result *);

/* Adds up what went wrong in two results. */
void engine_result_add_errors(
    struct engine_result *to, const struct engine_result *from);

/* Adds what another thread or stream found. */
void engine_verified_add(
    struct engine_verified *, const struct engine_verified *);

#endif
