/* Joins series of ratios to several reference servers. */
#ifndef CHAIN_H
#define CHAIN_H

struct machines;
struct reading_case;

/*
 * Where one reference was measured beside another, the column of its ratios is
 * multiplied by that ratio and becomes a part of the column of the other one:
 * for each machine by its own ratio, since servers differ by more on one
 * machine than on another. A column is named by the metric, '\n' and the hash
 * of the reference. Called after all is read and the machines are made.
 */
void chain_references(struct reading_case *, const struct machines *);

#endif
