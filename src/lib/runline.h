/*
 * A run record as most of them are, read from its line without a tree: it went
 * well, has no series, looks or errors, and no escapes in what is read. What
 * record_check would refuse is not read either; record_tree has the words.
 *
 * Most lines look like one before: the same but for numbers, strings and rooms
 * (subject, config, env). In those only these are looked at.
 */
#ifndef RUNLINE_H
#define RUNLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jsonscan.h"

#define RUNLINE_METRICS 64
#define RUNLINE_HISTS 8

/* All is borrowed of the line. */
struct runline {
	struct jsonscan_text subject, config, env; /* s NULL: absent */
	struct jsonscan_text about;                /* the same */
	struct jsonscan_text session, started, bound;
	double index, block, order; /* -1: absent */
	struct runline_metric {
		struct jsonscan_text name;
		double v;
	} metrics[RUNLINE_METRICS];
	size_t nmetrics;
	struct runline_hist {
		struct jsonscan_text name, text;
	} hists[RUNLINE_HISTS];
	size_t nhists;
	uint64_t hash; /* sum over all members but subject, config and env */
	bool guessed;  /* where the rooms end */
};

struct runlines; /* what the lines so far looked like */

struct runlines *runlines_new(void);
void runlines_free(struct runlines *);

/*
 * False: it is another record, or none. A NUL stands behind the line. Where the
 * rooms are guessed, they must be texts that were rooms before; of others
 * runline_rooms is asked, and if it says no, so does runline_read.
 */
bool runline_read(
    struct runlines *, struct runline *, const char *line, size_t n);
bool runline_rooms(const struct runline *, const char *line, size_t n);

#endif
