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

struct json;
struct jsonl;

struct run_record {
	/* JSON text, borrowed from the line; s NULL: absent. */
	struct jsonscan_text subject, config, env, series;
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

/* The same from a tree that record_check accepts. Returns 1, or -1 after
 * reporting the error. */
int run_record_convert(struct run_record_reader *, struct run_record *,
    const struct json *, const char *where);

/*
 * Reads the next record. Returns 1 with a run, in whatever form it was written,
 * and *rec NULL, or with another record in *rec, which the caller frees with
 * json_free. Otherwise returns as record_next.
 */
int run_record_next(struct run_record_reader *, struct jsonl *,
    struct run_record *, struct json **rec);

#endif
