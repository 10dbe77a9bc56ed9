/*
 * Expands configurations to cases. A case is a self-contained record: 'config'
 * is its identity, 'server' the server it needs, 'client' the rest. A file
 * holds configurations, or cases that an earlier --plan printed.
 */
#ifndef PLAN_H
#define PLAN_H

#include "opt.h"

#include <stdbool.h>
#include <stddef.h>

struct config_key;
struct intern;
struct json;
struct str;

/* Options of the command line that select cases and override their values. */
struct plan_want {
	const char *groups, *scenarios; /* "1,2"; NULL: all */
	struct opt_list patterns;       /* of ids and names; none: all */
	const char *cluster_mode;       /* "true" or "false"; NULL: unchanged */
	const char *mix;                /* of configurations; NULL: unchanged */
	const char *engine;             /* NULL: unchanged */
	long long shard, shards;        /* 1..shards; 0: all */
	long long requests;             /* 0: unchanged */
	double duration;                /* 0: unchanged */
	double warmup;                  /* negative: unchanged */
	const char *replay;             /* the same */
	struct opt_list sets;           /* of --set: KEY=VALUE */
	struct json *set;               /* all these values */
	bool skip_config_set, skip_profiling;
	bool lenient;
	bool no_flush;   /* own keys have a prefix, others stay */
	bool running;    /* a running server is measured */
	bool unixsocket; /* connect through a unix socket */
	long long db;    /* of --uri; negative: unchanged */
};

struct plan {
	const struct plan_want *want; /* borrowed */
	const char *const *commands;  /* the engine's; borrowed; NULL: any */
	bool any_word;                /* others are the server's, if unlike */
	struct json **cases;
	size_t n, cap;
	struct json *others;   /* cases of the other shards; or NULL */
	const char *file;      /* being read, for messages */
	size_t element;        /* index of the configuration in it */
	size_t problems;       /* reported so far */
	struct intern *placed; /* identities, by group */
	bool full;             /* PLAN_MOST was reached, and reported */
};

/* Checks the options that are more than a choice, and makes the values of
 * --set, which the caller frees. 0, or -1, error reported. */
int plan_check_want(struct plan_want *);
/* Adds the cases of a file, "-" is stdin. 0, or -1, error reported. */
int plan_read(struct plan *, const char *file);

/* Adds the cases of configurations that are not in a file; takes them. */
int plan_take(struct plan *, struct json *doc, const char *name);

/* Names the cases, drops duplicates, filters. 0, or -1, error reported. */
int plan_finish(struct plan *);
void plan_free(struct plan *);

/* One combination of the axes, for the expansion. */
enum { PLAN_AXES = 17 }; /* their numbers in config.h are below it */
struct plan_axes {
	const struct json *cfg;
	const struct config_key *keys[PLAN_AXES]; /* by number */
	const struct json *values[PLAN_AXES];     /* of each axis, or NULL */
	bool cluster, tls;
	const struct json *profiling, *set; /* or NULL */
	double io_threads;                  /* 0: not given */
};

/* Appends a short readable id, or a longer one if 'more' is set. */
void plan_format_id(struct str *, const struct json *config, bool more);

/*
 * Gives each case the secrets that are references in its record, before it is
 * run. Returns 0, or -1 after reporting one that is missing.
 */
int plan_resolve_secrets(struct plan *);

/* Returns why a case cannot be run with --no-flush, or NULL. Caller frees. */
char *plan_explain_own_keys(const struct json *cas);

/* Drops duplicate cases, names the others. 0, or -1, error reported. */
int plan_name_cases(struct plan *);

/* Adds the value of a key, which an option gives, to an object. 0, or -1, error
 * reported. */
int plan_add_value(
    struct json *values, const char *option, const char *key, const char *text);

/*
 * Calls 'fn' for each combination that is wanted: of the axes, and without test
 * groups of all lists of a configuration.
 */
void plan_each(struct plan *, const struct json *cfg,
    void (*fn)(struct plan *, const struct plan_axes *));

/* Completes the identity of a case, so that every value is explicit. */
void plan_complete_config(const struct plan_axes *, struct json *config);

/* New objects, owned by the caller. *why: what is wrong with it, or NULL;
 * caller frees. */
struct json *plan_make_server(const struct plan_axes *, char **why);

struct json *plan_make_client(const struct plan_axes *);

#endif
