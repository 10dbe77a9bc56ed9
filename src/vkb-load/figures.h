/* What the engine measured, as the rooms of a run record. */
#ifndef FIGURES_H
#define FIGURES_H

struct engine_result;
struct json;

/* Sets metrics, hist, series, errors and bound. What is NAN stays absent. */
void figures_set(struct json *run, const struct engine_result *);

#endif
