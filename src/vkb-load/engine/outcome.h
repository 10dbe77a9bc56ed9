/* Makes the result of a run from its threads' counts. Private to the engine. */
#ifndef OUTCOME_H
#define OUTCOME_H

struct engine_result;
struct run;

/* Call it after the threads have ended. The result takes the histograms. */
void outcome_make(struct run *, struct engine_result *);

#endif
