/* The result of a run, of what its threads counted. Private to the engine. */
#ifndef OUTCOME_H
#define OUTCOME_H

struct engine_result;
struct run;

/* The threads have ended; the histograms are the result's. */
void outcome_make(struct run *, struct engine_result *);

#endif
