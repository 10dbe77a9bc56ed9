/*
 * Reads a run record from its line without building a tree: the values, and the
 * text of the objects. vkb-record(5) explains the members; record_types[] lists
 * them with their types.
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
	/* Strings with escapes resolved; s NULL: absent. */
	struct jsonscan_text status, session, started, bound, error;
	double index, block, order; /* -1: absent */
	struct run_metric {
		struct jsonscan_text name; /* escapes resolved */
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

struct run_record_reader; /* owns the memory of the record read last */

struct run_record_reader *run_record_reader_new(void);
void run_record_reader_free(struct run_record_reader *);

/*
 * Reads a line; line[n] is NUL. Returns false if it is not a run record that
 * record_check accepts; record_tree reports what is wrong. What the record
 * points to is valid until the next call.
 */
bool run_record_read(struct run_record_reader *, struct run_record *,
    const char *line, size_t n);

#endif
