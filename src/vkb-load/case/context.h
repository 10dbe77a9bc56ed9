/* What the runs of a session share: engines, servers, folders, counters. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vkb-load/engine/engine.h"

struct coproc;
struct engine;
struct extserver;
struct hdrfile;
struct json;
struct live;
struct logs;
struct peers;
struct profiles_opts;

/* vkb-serve on another machine. */
struct serve {
	char **command;   /* words, ended by NULL */
	const char *host; /* of that machine: servers bind to it */
	int port;         /* first one; 0: free ports */
};

/* Returns the command that starts vkb-serve, or NULL for our own. */
static inline const char *const *
serve_words(const struct serve *s)
{
	return s ? (const char *const *)s->command : NULL;
}

struct case_context {
	const struct engine *engines;
	const struct profiles_opts *profiles;
	struct logs *logs;
	char run_name[32];          /* of the current run, for the logs */
	struct extserver *external; /* NULL: vkb-serve starts servers */
	const struct serve *serve;  /* it is elsewhere, or NULL */
	struct coproc *coproc;    /* NULL: started when needed; caller closes */
	const struct json *env;   /* what each run repeats of the env record */
	struct hdrfile *hdr;      /* log of latencies, or NULL */
	struct live *live;        /* live metrics, or NULL */
	engine_progress_fn *show; /* shows the run, called with 'progress' */
	void *progress;
	/* Called when vkb-serve has started a server of a build; or NULL. */
	void (*started)(
	    void *arg, const struct json *build, const struct json *server);
	void *started_arg;
	char session[16];
	uint64_t seed;
	bool count_caches;   /* counted runs simulate caches and branches */
	double timeout_s;    /* 0: that of the case */
	struct peers *peers; /* the other parts of the load, or NULL */
	double start_at_s;   /* by the server's clock, of the next measured run;
			      * 0: at once */
	size_t order;        /* runs begun */
	size_t servers;      /* started */
	const volatile int *stop;
	volatile int halt; /* ends the run: *stop, or the server ended */
	bool endangered;   /* a load has cost others keys or memory: the session
			    * ends */
	char *too_large;   /* why servers of several builds do not fit into
			    * memory together; who takes it frees it */
};

#endif
