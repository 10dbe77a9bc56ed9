/*
 * A case in the types of C. The limits of its values are those of config.h.
 */
#ifndef BENCHCASE_H
#define BENCHCASE_H

#include "ratespec.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/engine.h"

#include <stdbool.h>
#include <stddef.h>

struct json;
struct plan_want;

/* Cases that replay a trace instead of sending commands of their own. */

/* Returns why the options exclude each other, or NULL; static. 'replay' is
 * that of --replay, 'order' that of --order, or NULL. */
const char *bench_case_replay_conflict(const char *replay,
    const struct plan_want *, bool count, bool no_flush, const char *order);

/*
 * Makes a case replay a trace, if its configuration says so: sets what
 * identifies it in 'config', and client.replay, the path. Returns NULL, or why
 * the trace cannot be replayed; caller frees.
 */
char *bench_case_replay(const struct json *cfg, struct json *cas);

/* What one load does: that of a case, or of a writer or reader of it. */
struct bench_load {
	/* As the engine has it, but for what depends on other loads and on the
	 * server. */
	struct engine_work work;
	struct dataset_want data;
	const char *command;  /* as in the case; that of 'work' may be a mix */
	const char *phase;    /* "write", "mixed_read", ... */
	const char *slo;      /* see slospec.h; NULL: no search */
	struct ratespec rate; /* that of 'work' is a part of it */
	const char *mix;      /* see mixspec.h; NULL: there is one command */
	const char *replay;   /* name of a trace, or NULL */
	long long parallel_clients;
	bool parallel; /* a client for each node */
	bool poisson;  /* arrivals of a rate; else at equal intervals */
	long long nodes, replicas; /* of a cluster; replicas of each node */
	bool cluster;
	bool warmup_apart, warmup_writes_only;

	/* How connections are made; 0 and NULL: as usual. */
	long long idle_clients, db;
	bool read_replicas;
	struct tls_options tls; /* but for its files */
	bool tls_resumption;
};

/* The command of a case with a mix; that of a part of it is its own. */
#define BENCH_CASE_MIX "mix"

/* When a profile begins after the warm-up, and how long it lasts. */
struct bench_delay {
	double delay_s, duration_s;
};

/*
 * A case. Everything is borrowed from the record but 'before', the cases that
 * must run before it without being recorded, and 'placed'.
 */
struct bench_case {
	const struct json *record, *config;
	struct bench_case *before;
	size_t nbefore;
	const char *id;
	struct bench_load load;
	const char *populate_with;
	const struct json *setup_commands, *teardown_commands;

	const struct json *profiling; /* NULL: not asked for */
	const char *profile_mode;
	long long sampling_freq;
	struct bench_delay profile_writes, profile_reads;

	bool unixsocket;
	bool no_aslr;         /* of the server */
	const char *password; /* may be "" or NULL */
	const struct json *server, *modules, *server_cpus;

	const char *client_cpus;             /* NULL: any */
	const struct json *client_cpus_each; /* of clients in parallel */
	struct json *placed; /* CPUs that the session chose, or NULL */
	bool unplaced;       /* and vkb-serve chooses none either */
	long long seed;      /* -1: drawn by the session */
	long long max_lost;
	bool count;          /* its instructions must be counted, too */
	bool counted;        /* they are counted */
	bool demanded;       /* the session fails if that fails */
	bool counts_clients; /* what a client takes is counted, too */
	double timeout_s;    /* 0: not given */
	const char *trace;   /* path of the trace that is replayed, or NULL */
};

/* Fills a case from a record that was checked. Call bench_case_free. */
void bench_case_fill(struct bench_case *, const struct json *record);
void bench_case_free(struct bench_case *);

/*
 * Gives a case, and those before it, the CPUs of 'placed': "servers" and "each"
 * as in "server.cpus" and "client.each", "clients" as in "client.cpus". Without
 * it nothing is pinned but what the case names.
 */
void bench_case_place(struct bench_case *);

/* Fills a load from an identity: the 'config' of a case or of its role. */
void bench_case_fill_load(struct bench_load *, const struct json *config);

/*
 * Turns an identity of a mixed case into that of a part: copies the values
 * which the part has of its own.
 */
void bench_case_adopt_part(struct json *config, const struct json *part);

/*
 * Sets 'keys' of an identity to a distribution of keyspec.h, or 'sequential',
 * or neither if it is uniform, so that equal work has one identity.
 */
void bench_case_set_keys(struct json *config, const char *text);

/* Sets the mix of an identity, in its only form. */
void bench_case_set_mix(struct json *config, const char *text);

/*
 * Sets 'values' and 'data_size' of an identity by a text of valuespec.h;
 * data_size is the mean, and all there is for one size of constant bytes.
 */
void bench_case_set_values(struct json *config, const char *text);

/*
 * Check a case that was read from a file, where it may have been edited: its
 * values and those of the cases before it, whose limits are those of the
 * configuration, and whether 'server' agrees with 'config'. 0, or -1, error
 * reported. 'where' is FILE:LINE.
 */
int bench_case_check(const struct json *record, const char *where);
int bench_case_check_server(const struct json *record, const char *where);

/* Returns the name of the engine of an identity; never NULL. */
#define BENCH_CASE_NATIVE "native"
const char *bench_case_engine(const struct json *config);

#endif
