/* The operations of the program, by name. */
#ifndef OPERATION_H
#define OPERATION_H

#include "footprint.h"
#include "lineage.h"
#include "sink.h"
#include "store.h"
#include "work.h"

#include <stdbool.h>

struct track_options {
	const char *repo, *branch, *since, *order;
	const char *config, *mode;
	const char *database, *table, *file;
	const char *arch, *owner, *status, *reason, *format;
	double lease;
	long long most, attempts;
	bool first_parent, no_subset, skip_config_set, skip_profiling;
	bool again, resume, list_configs;
	char **argv, **words; /* opt_parse reorders argv; 'words' is a copy */
};

/* The state of one run; each part is set only if the operation needs it. */
struct session {
	const struct track_options *o;
	struct gitrepo *repo;
	struct footprint config;
	struct lineage history;
	struct commits named;
	struct work work;
	struct sink out;
};

/* Traits. */
enum {
	OPERATION_NEEDS_CONFIG = 1,
	OPERATION_NEEDS_REPO = 2,
	OPERATION_NEEDS_COMMITS = 4,
	OPERATION_ALONE = 8, /* excludes others that are alone */
	OPERATION_MAY_COMMITS = 16,
	OPERATION_HISTORY = 32, /* reads the history unless commits are named */
	OPERATION_ANY_ARCH =
	    64, /* no --architecture: any, not this machine's */
	OPERATION_NO_STORE = 128
};

struct operation {
	const char *name;
	int (*run)(struct session *); /* exit status, or -1: error reported */
	int traits;
};

const struct operation *operation_find(const char *name); /* or NULL */

/* Operations that have options of their own. */
int operation_claim(struct session *);
int operation_mark(struct session *);
int operation_prolong(struct session *);
int operation_query(struct session *);
int operation_list_configs(struct session *);

#endif
