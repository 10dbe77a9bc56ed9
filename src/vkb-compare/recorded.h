/*
 * Comparisons read back from the records that --format jsonl wrote, to report
 * them once more. The records are not trusted: names and texts in them may be
 * anything, so writers escape them like those of any input.
 */
#ifndef RECORDED_H
#define RECORDED_H

#include <stddef.h>

struct comparison;
struct json;
struct jsonl;
struct recorded_part;

struct recorded {
	struct comparison *c;
	size_t n;
	struct recorded_part *parts; /* what they borrow from */
};

/*
 * Reads delta, shift and comparison records to the end. Returns -1, after
 * reporting it, if a record is none of these or invalid, or if there is no
 * comparison record behind the others. Free with recorded_free in any case.
 */
int recorded_read(struct recorded *, struct jsonl *);

/*
 * Adds a comparison from n > 0 delta and shift records, in the order of their
 * cases, and its own record, the last one, which may be missing. Takes the
 * array and the records. Returns what is wrong with them, so that nothing is
 * added, or NULL. The struct is zeroed at first.
 */
const char *recorded_add(struct recorded *, struct json **records, size_t n);
void recorded_free(struct recorded *);

#endif
