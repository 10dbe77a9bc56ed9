/*
 * How findings are told, whatever the format. Foreign text is in what is added:
 * it is to be made harmless.
 */
#ifndef PHRASE_H
#define PHRASE_H

#include "finding.h"

struct str;

void phrase_headline(
    struct str *, const struct findings *, const struct finding_rules *);
void phrase_ordering(struct str *, const struct branch *);

/* What a reader must know about the data, one line each. */
typedef void phrase_say(void *arg, const char *text);
void phrase_warnings(const struct branch *, const struct findings *,
    const struct finding_rules *, phrase_say *, void *arg);

/* Where it is, and how sure that is. */
void phrase_place(
    struct str *, const struct branch *, const struct finding_group *);

/* "-5.9% [-6.3, -5.5]", "101K -> 95K req/s", "NEW". */
void phrase_change(struct str *, const struct finding *);
void phrase_numbers(struct str *, const struct finding *);
/* Why it does not count, or that it does. */
void phrase_standing(
    struct str *, const struct branch *, const struct finding *);

#endif
