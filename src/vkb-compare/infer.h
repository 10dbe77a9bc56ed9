/*
 * The rows of a comparison, judged by the model (judge/model.h), metric by
 * metric.
 *
 * What sessions do is as the policy says (vkb-compare --calibrate measures it),
 * or as builds of the history with several sessions say (history.h), unless the
 * baseline has enough sessions to measure it. Else it is assumed (sessions.h).
 * A side without names of sessions is a session of its own.
 */
#ifndef INFER_H
#define INFER_H

#include "judge/plan.h"
#include "judge/verdict.h"
#include "sample.h"
#include "sessions.h"

struct comparison;
struct metric_facts;
struct row;
struct rules;

/* Stands for all cases where the name of one is expected. */
#define INFER_ALL "all cases"

enum { INFER_COMMON = 5 }; /* cases at least, to speak of all */

/* Judges all rows with noise, and adds a row of what all cases have in common
 * for each metric whose sides share no session: its pair stands for all cases,
 * and was not measured. */
void infer_rows(struct comparison *, const struct rules *);

/* Returns the facts of a row for its change relative to the other cases; if not
 * 'whole', those of verdict_take_change. */
struct verdict_facts infer_rest(const struct row *, bool whole);

/* Describes a row with noise, of which more runs or sessions are planned. */
struct plan infer_plan(const struct row *);

/* Frees what stands for all cases. */
void infer_free(struct comparison *);

/* Sets how much sessions of such machines differ in these rows of a metric: by
 * the policy, by the history, or as assumed. */
void infer_prior(struct metric_facts *, struct row *const *, size_t n,
    enum sessions_host, const struct rules *);

/* Judges two samples alone; 'clock' as in sheet.h. */
struct verdict_facts infer_samples(
    const struct sample s[2], bool clock, const struct model_prior *);

#endif
