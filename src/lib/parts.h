/*
 * Joins part records, of which each vkb-load of a load made on several hosts
 * writes one, to the run records of the whole load. vkb-record(5) says how:
 * requests and rates are added, histograms merged exactly.
 */
#ifndef PARTS_H
#define PARTS_H

struct json;
struct parts;

/* The share of the longest time that all parts must have measured together. */
#define PARTS_OVERLAP_PERCENT 99

struct parts *parts_new(void);
void parts_free(struct parts *);

/*
 * Adds a part record that passed record_check; takes it. Returns the run
 * (caller frees with json_free) if this is the last part of it, else NULL. A
 * run whose parts do not fit together, or one of which failed, has the status
 * failed, and says which.
 */
struct json *parts_add(struct parts *, struct json *part);

/* Removes a run that lacks parts and returns it with the status failed; NULL:
 * there is none.
 */
struct json *parts_next_incomplete(struct parts *);

#endif
