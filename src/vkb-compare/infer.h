/*
 * The rows of a comparison, judged by the model (judge/model.h), metric by
 * metric.
 *
 * What sessions do is as the policy says (vkb-compare --calibrate measures it),
 * or as builds of the history with several sessions say (between.h), unless the
 * baseline has enough sessions to measure it. Else their standard deviation is
 * assumed to be 3 % on a virtual machine and 1 % on another, and 1 % for each
 * case beside that, with SESSIONS_DF degrees of freedom. A side without names
 * of sessions is a session of its own.
 */
#ifndef INFER_H
#define INFER_H

#include <stdbool.h>

#include "judge/verdict.h"
#include "sample.h"

struct comparison;
struct rules;

/* Judges all rows with noise, and adds a row of what all cases have in common
 * for each metric whose sides share no session. */
void infer_rows(struct comparison *, const struct rules *);

/* Judges two samples alone. 'bare': the machine is not a virtual one. */
struct verdict_facts infer_samples(const struct sample s[2], bool bare);

#endif
