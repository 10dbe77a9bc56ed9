/* Writes a group of runs as a summary record. */
#ifndef GROUPOUT_H
#define GROUPOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "stats.h"

struct caseset;
struct group;
struct sessions;
struct scratch;
struct sink;

struct groupout { /* what the groups have in common */
	struct caseset *subjects, *configs, *envs;
	struct sessions *sessions;
	uint32_t *rank;          /* sessions_order */
	struct scratch *scratch; /* NULL: nothing was spilled */
	struct stats_rule rule;  /* cache; zeroed at first */
	double precision;        /* wanted, or 0 */
};

/* brief: without values, blocks, sessions and histograms. Returns 0, or -1
 * after reporting an error. */
int groupout_write(
    struct sink *, struct groupout *, struct group *, bool brief);

#endif
