/* Joins series of ratios to several reference servers. */
#ifndef CHAIN_H
#define CHAIN_H

struct reading_case;

/*
 * Where one reference was measured beside another, its column of ratios is
 * multiplied by that ratio and becomes a part of the column of the other one.
 * A column is named by the metric, '\n' and the hash of the reference. Called
 * after all is read.
 */
void chain_references(struct reading_case *);

#endif
