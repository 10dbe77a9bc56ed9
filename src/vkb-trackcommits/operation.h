/* What the program does with commits and rows, by the name of the operation. */
#ifndef OPERATION_H
#define OPERATION_H

#include "footprint.h"
#include "lineage.h"
#include "rules.h"
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
	char **argv, **words; /* opt_parse moves those; these stay */
};

/* What a run of the program needs; each part only where it is asked for. */
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
	OPERATION_ALONE = 8,
	OPERATION_MAY_COMMITS = 16,
	OPERATION_HISTORY = 32,
	OPERATION_ANY_ARCH = 64,
	OPERATION_NO_STORE = 128
};

struct operation {
	const char *name;
	int (*run)(struct session *); /* 0, 1: no; -1, reported */
	int traits;
};

const struct operation *operation_find(const char *name); /* NULL: none */

/* Those that have options of their own. */
int operation_claim(struct session *);
int operation_mark(struct session *);
int operation_prolong(struct session *);
int operation_query(struct session *);
int operation_list_configs(struct session *);

#endif
