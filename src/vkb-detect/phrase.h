/*
 * Sentences about findings, for all formats. They contain names from the input,
 * which the caller must escape.
 */
#ifndef PHRASE_H
#define PHRASE_H

#include "finding.h"

struct str;

void phrase_headline(
    struct str *, const struct findings *, const struct finding_rules *);
void phrase_ordering(struct str *, const struct branch *);

/* The machines of a history; nothing if there is one. */
void phrase_machines(struct str *, const struct branch *);

enum { PHRASE_MACHINES = 5 }; /* of one change, in a line for people */

/* "on 2 of 3 machines: a; b; not on c", with the names of at most so many of
 * each kind; nothing if the history is of one. */
void phrase_shown_by(
    struct str *, const struct branch *, const struct finding *, size_t most);

/* Warnings about the data: calls 'say' with one line each. */
typedef void phrase_say(void *arg, const char *text);
void phrase_warnings(const struct branch *, const struct findings *,
    const struct finding_rules *, phrase_say *, void *arg);

/* " (Rewrite the iterator, 2026-02-09)": what is known of the commit of a point
 * behind its name. */
void phrase_commit(struct str *, const struct branch_point *);

/* The place of a change, and the range that it may be in. */
void phrase_place(
    struct str *, const struct branch *, const struct finding_group *);

/* "8.0% slower", "p99 12% higher" */
void phrase_named(struct str *, const struct finding *);
/* "-5.9% [-6.3, -5.5]"; "101K -> 95K req/s" with the text between them. */
void phrase_change(struct str *, const struct finding *);
void phrase_numbers(struct str *, const struct finding *, const char *to);
/* How probable it is: "99.2%", or "-" if that was not judged. */
void phrase_sureness(struct str *, const struct finding *);
/* "NEW", or why the finding does not count. */
void phrase_standing(
    struct str *, const struct branch *, const struct finding *);

#endif
