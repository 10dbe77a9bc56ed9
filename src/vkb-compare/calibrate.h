/*
 * The false alarms of a machine: runs of one build, in the order of time, are
 * judged by the present rules as if they were of two builds.
 */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include <stddef.h>

struct calibration;
struct rules;
struct str;

/*
 * 'runs' is the number of runs per side in real use. Returns NULL, after
 * reporting it, if some input cannot be used or nothing is judged.
 */
struct calibration *calibrate(
    const char *const *files, size_t n, size_t runs, const struct rules *);
void calibrate_free(struct calibration *);

void calibrate_text(struct str *, const struct calibration *);
/* Writes a policy with margins that keep alarms below 5 %, and with how much
 * sessions differ where there are several (history.h). */
void calibrate_policy(struct str *, const struct calibration *);

#endif
