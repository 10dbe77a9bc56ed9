/* Makes the result of a run from its threads' counts. Private to the engine. */
#ifndef COLLECT_H
#define COLLECT_H

struct engine_result;
struct run;

/* Call it after the threads have ended. The result takes the histograms. */
void collect_result(struct run *, struct engine_result *);

#endif
