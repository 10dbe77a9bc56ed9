/*
 * The values of one metric, made into rows of the model.
 *
 * A row with a value that is not above 0 has no logarithms: its values are then
 * divided by the mean of the baseline, or if that is 0, of the contender, and
 * changes are differences of these.
 *
 * Values of a coarse clock are multiples of a step, perhaps with an offset. It
 * is the greatest common divisor of the differences of all values of the sheet,
 * where at most half of these values are different. Two different values have a
 * step only if they are of a clock: without one, values without noise have not.
 */
#ifndef SHEET_H
#define SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_row;
struct sheet;

struct sheet *sheet_new(size_t rows, bool clock);
void sheet_free(struct sheet *);

/* The values are logarithms, without a step. */
void sheet_take_logs(struct sheet *);

/* Adds a value, which is finite, of side 0 or 1, behind those of earlier rows
 * and of side 0. 'time' NAN: its place in the session is not known. */
void sheet_add(struct sheet *, size_t row, int side, double value,
    uint32_t session, double time);

/* Returns the rows with their runs and steps set; borrowed. No value is added
 * after it. */
struct model_row *sheet_rows(struct sheet *);

/* Returns these rows without their runs; the caller frees them. */
struct model_row *sheet_take_rows(struct sheet *);

/* The step of the values, 0 if they have none. */
double sheet_step(const struct sheet *);

#endif
