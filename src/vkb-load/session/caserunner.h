/* Case runs: run the cases of a scene on a server and write their records. */
#ifndef CASERUNNER_H
#define CASERUNNER_H

#include <stdbool.h>
#include <stddef.h>

#include "vkb-load/case/context.h"

struct json;
struct schedule;
struct turn;

struct case_runner {
	struct case_context context;
	struct schedule *schedule;
	struct json *machine;   /* env record still to be written; or NULL */
	struct json *reference; /* facts of it, once it was started; or NULL */
	struct json *beside; /* ID: the records of its run on the reference, to
			      * which the next runs are related; or NULL */

	/* called before each run that is measured */
	void (*announce)(void *arg, const struct turn *, size_t cas);
	/* called after each run that succeeded, for each role */
	void (*measured)(
	    void *arg, size_t cas, size_t role, const struct json *metrics);
	void *arg;
};

/* What is to be measured in a turn. */
struct case_run {
	const struct turn *turn;
	bool *wanted; /* by place in the scene; cleared when a run succeeds, or
		       * its server died in slices */
	size_t failed;
	bool profile;   /* profile instead of measuring */
	bool reference; /* keep its records as 'beside', write none */
};

/*
 * Runs a case that is not wanted, without recording it, if a later one needs
 * its data. 0 if all wanted cases were measured, or failed, and were written;
 * -1 if not all could be written, or *stop is set (the current run is not
 * written).
 */
int case_runner_run(struct case_runner *, struct case_run *);

/* Can the builds of a turn be loaded in slices: all cases of its scene? */
bool case_runner_can_slice(const struct schedule *, const struct turn *);

/*
 * The same for n turns of one scene on different builds, whose servers are
 * loaded in slices. case_runner_can_slice must be true for them. If a case
 * fails on one of them, which may be the fault of another, nothing of it is
 * written but the failed runs of servers that died, and 1 returned: what is
 * still wanted has to be run alone. If one of them is the reference, it is the
 * last; if its server died, all runs have failed.
 */
int case_runner_run_slices(struct case_runner *, struct case_run *, size_t n);

#endif
