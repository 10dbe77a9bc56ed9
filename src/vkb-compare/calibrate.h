/*
 * How often this machine gives an alarm where nothing changed: runs of one
 * build, in the order of time, judged by the present rules as if they were two.
 */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include <stddef.h>

struct calibration;
struct rules;
struct str;

/*
 * 'runs' is what a side has in real use. NULL, and said: some input is no run,
 * or there is none.
 */
struct calibration *calibrate(
    const char *const *files, size_t n, size_t runs, const struct rules *);
void calibrate_free(struct calibration *);

void calibrate_text(struct str *, const struct calibration *);
/* A policy with the margins at which alarms stay below 5 %. */
void calibrate_policy(struct str *, const struct calibration *);

#endif
