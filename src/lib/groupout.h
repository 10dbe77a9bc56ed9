/*
 * A group of runs as the summary record it becomes.
 */
#ifndef GROUPOUT_H
#define GROUPOUT_H

#include <stdbool.h>
#include <stdint.h>

struct caseset;
struct group;
struct places;
struct scratch;
struct sink;
struct stats_rule;

struct groupout { /* all of it is borrowed */
	const struct caseset *subjects, *configs, *envs;
	struct places *places;
	const uint32_t *rank;    /* places_order */
	struct scratch *scratch; /* NULL: nothing was spilled */
	struct stats_rule *rule; /* of the group before */
	double precision;        /* wanted; 0: nobody asked */
	bool brief; /* without values, blocks, sessions, histograms */
};

/* Without its closing bracket; 0, or -1 and said. */
int groupout_put(struct sink *, const struct groupout *, struct group *);

#endif
