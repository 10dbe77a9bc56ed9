/* The threads of one run. Private to the engine, like run.h. */
#ifndef THREADS_H
#define THREADS_H

struct engine_target;
struct engine_work;
struct gate;
struct run;
struct run_options;

/* Two steps to running threads: 0, or -1 and said. threads_free in any case. */
int threads_init(struct run *, struct gate *, const struct engine_target *,
    const struct engine_work *, const struct run_options *);
int threads_start(struct run *);
void threads_free(struct run *); /* of zeroes too; the threads have ended */

#endif
