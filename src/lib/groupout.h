/* Writes a group of runs as a summary record. */
#ifndef GROUPOUT_H
#define GROUPOUT_H

#include <stdbool.h>
#include <stdint.h>

struct caseset;
struct group;
struct sessions;
struct scratch;
struct sink;
struct stats_rule;

struct groupout { /* all of it is borrowed */
	const struct caseset *subjects, *configs, *envs;
	struct sessions *places;
	const uint32_t *rank;    /* sessions_order */
	struct scratch *scratch; /* NULL: nothing was spilled */
	struct stats_rule *rule; /* cache; filled by the group before */
	double precision;        /* wanted; 0: none */
	bool brief; /* without values, blocks, sessions, histograms */
};

/* Returns 0, or -1 after reporting an error. */
int groupout_write(struct sink *, const struct groupout *, struct group *);

#endif
