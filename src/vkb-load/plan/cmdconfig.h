/*
 * A configuration on the command line, with the letters of valkey-benchmark:
 * -t set,get -P 10 -d 256 -c 50 -r 10000, and --command, --mix or --replay.
 */
#ifndef CMDCONFIG_H
#define CMDCONFIG_H

#include "opt.h"

struct plan;

/* As given; NULL: not given. The first are lists, separated by commas. */
struct cmdconfig {
	const char *tests, *pipelines, *data_sizes, *clients, *keyspacelen;
	struct opt_list commands; /* each is a test or a command */
	const char *mix;
	const char *replay; /* path of a trace */
	/* Of the running server that is measured, which the cases have to fit.
	 */
	size_t primaries;       /* of a cluster; 0: it is a single server */
	int running_io_threads; /* 0: not known */
	bool tls;
	bool beside; /* data of others, which stays: there are few keys */
};

/*
 * Returns why the options cannot be used together, 'files' being whether there
 * are FILEs, or NULL. Without FILEs 'mix' and 'replay' are loads of their own.
 */
const char *cmdconfig_find_conflict(const struct cmdconfig *, bool files);

/* Checks the texts of the tests and the mix. 0, or -1, error reported. */
int cmdconfig_check(const struct cmdconfig *);

/* Is a configuration given, so that stdin is not read for one? */
bool cmdconfig_is_given(const struct cmdconfig *);

/* Adds the cases. 0, or -1, error reported. */
int cmdconfig_plan(struct plan *, const struct cmdconfig *);

#endif
