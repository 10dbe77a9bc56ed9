/*
 * From configurations to cases. A case is a self-contained record: 'config' is
 * its identity, 'server' the server it wants, 'client' the rest. A file may
 * hold configurations or, from an earlier --plan, the cases themselves.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct json;
struct names;
struct str;

/* What the command line wants of the configurations; all may be zero. */
struct plan_want {
	const char *groups, *scenarios; /* "1,2"; NULL: all */
	const char *pattern;            /* fnmatch(3) on ids; NULL: all */
	const char *cluster_mode;       /* "true" or "false"; NULL: as it is */
	const char *latency;            /* NULL: as it is */
	const char *engine;             /* NULL: as it is */
	long long shard, shards;        /* 1..shards; 0: all */
	long long requests;             /* 0: as it is */
	double duration, rate;          /* 0: as it is */
	double warmup;                  /* negative: as it is */
	long long max_lost;             /* negative: as it is */
	bool skip_config_set, skip_profiling;
	bool lenient;
	bool no_flush;   /* keys have a prefix, others stay */
	bool unixsocket; /* the cases are those of a unix socket */
};

struct plan {
	const struct plan_want *want; /* borrowed */
	const char *const *commands;  /* the engine's; borrowed; NULL: any */
	struct json **cases;
	size_t n, cap;
	const char *file;     /* the one that is read, for messages */
	size_t element;       /* and its configuration */
	size_t problems;      /* said so far */
	struct names *placed; /* identities, by group */
	bool full;            /* PLAN_MOST was reached, and reported */
	size_t doubles; /* cases that were planned twice, and are dropped */
};

/* Adds the cases of a file, "-" is stdin. 0, or -1 and said. */
int plan_read(struct plan *, const char *file);

/* Names the cases, drops repeated ones, filters. 0, or -1 and said. */
int plan_finish(struct plan *);
void plan_free(struct plan *);

/* For the expansion: plan.c has the axes, scenario.c the test groups. */
struct plan_axes {
	const struct json *cfg;
	bool cluster, tls;
	const struct json *profiling, *set; /* NULL: none */
	double io_threads;                  /* 0: not said */
};

void plan_problem(struct plan *, const char *fmt, ...) ERR_PRINTF(2, 3);

/* Cases of all files; three lists of 2,999 values would be 27 billion. */
#define PLAN_MOST 100000

/*
 * Adds a case; 'config' is taken and completed from the axes. NULL: there are
 * too many, which was reported once; loops end when 'full' is set.
 */
struct json *plan_add(
    struct plan *, const struct plan_axes *, struct json *config);
const char *plan_command(
    const struct plan *, const char *name); /* NULL: unknown */
void plan_scenarios(struct plan *, const struct plan_axes *);

/* Is 'word' in the comma list? NULL holds every word. */
bool plan_listed(const char *list, const char *word);

/* caseid.c: a short readable name; more of it where 'more' is set. */
void plan_id(struct str *, const struct json *config, bool more);

/* Drops cases that are there twice, names the others. 0, or -1 and said. */
int plan_unique(struct plan *);

#endif
