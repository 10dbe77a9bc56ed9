/*
 * A call: the steps of one build in a turn, on one server, and their records.
 * Private to the case runner.
 */
#ifndef CALL_H
#define CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "vkb-load/case/handle.h"

struct bench_case;
struct case_run;
struct case_runner;
struct measure;
struct schedule;

/* A case of a turn: measured, run without being recorded, or left out. */
struct step {
	const struct bench_case *cas;
	size_t number; /* of the case in the schedule */
	bool *wanted;  /* NULL: from a 'before' list */
	bool run;
};

struct call {
	struct case_runner *r;
	struct schedule *a;
	struct case_run *v;
	struct step *steps;
	size_t n;
	struct server_handle handle;
	char *spoilt;    /* why later cases cannot be measured; or NULL */
	size_t together; /* builds loaded at the same time */
};

/* Plans the steps of a build, one of n that are loaded at the same time. */
void call_begin(
    struct call *, struct case_runner *, struct case_run *, size_t n);
void call_end(struct call *);

/* Is a run of this step wanted? Other steps are run only for the data that they
 * write. */
bool call_measures(const struct step *);

/* Notes which server the reference is, from a measure of it. */
void call_note_reference(struct call *, const struct measure *);

/* Runs a step. Returns 0, or -1: stop. */
int call_run_step(struct call *, const struct step *, bool last);

/*
 * The parts of call_run_step, for steps that are made together.
 * call_prepare_server gives a step its server: that of the steps before, or a
 * fresh one; call_check fails if it has ended, and ends it after the last step.
 * Both return -1 with the error in the measure. call_write writes the records
 * of a step that returned rc, and returns -1 after reporting that it could not.
 */
void call_start_measure(
    struct call *, struct measure *, const struct bench_case *);
int call_prepare_server(struct call *, const struct step *, struct measure *);
int call_check_survival(
    struct call *, const struct step *, struct measure *, bool last);
int call_write_records(
    struct call *, struct measure *, const struct step *, int rc);

#endif
