/* The threads of one run. Private to the engine, like run.h. */
#ifndef THREADS_H
#define THREADS_H

struct engine_target;
struct engine_work;
struct gate;
struct run;
struct run_options;

/*
 * Prepare and start the threads of a run. Return 0, or -1 after reporting an
 * error. The caller calls threads_free in any case.
 */
int threads_init(struct run *, struct gate *, const struct engine_target *,
    const struct engine_work *, const struct run_options *);
int threads_start(struct run *);
void threads_free(struct run *); /* may be all zero; the threads have ended */

#endif
