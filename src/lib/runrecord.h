/*
 * A run record read from its line without a tree: its values, and the text of
 * its objects. vkb-record(5) says what the members mean; record_types[] which
 * there are, of what type.
 */
#ifndef RUNRECORD_H
#define RUNRECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jsonscan.h"

struct run_record {
	/* JSON text, borrowed from the line; s NULL: absent. */
	struct jsonscan_text subject, config, env, about, series, looks, until;
	struct jsonscan_text artifacts, errors, flat;
	/* What the strings mean, without escapes; s NULL: absent. */
	struct jsonscan_text type, status, session, started, bound, error;
	double version, index, block, order; /* -1: absent */
	struct run_metric {
		struct jsonscan_text name; /* what it means */
		double value;
	} * metrics; /* owned by the reader; NULL: absent */
	size_t nmetrics;
	struct run_hist {
		struct jsonscan_text name, text; /* text.s NULL: no string */
	} * hists;                               /* owned by the reader */
	size_t nhists;
	bool ok; /* the status */
	/* Sum of jsonhash_member over all members but subject, config and env.
	 */
	uint64_t hash;
};

struct run_reader; /* the memory of records, and the objects seen last */

struct run_reader *run_reader_new(void);
void run_reader_free(struct run_reader *);

/*
 * Reads a line that has a NUL behind its end. False if it is not a run record,
 * or not one that record_check accepts: record_tree reports what is wrong. What
 * the record points to is good until the next call.
 */
bool run_record_read(
    struct run_reader *, struct run_record *, const char *line, size_t n);

#endif
