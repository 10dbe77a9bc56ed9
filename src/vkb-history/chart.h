/*
 * Draws a series of a history: its commits, evenly spaced, with dates below;
 * its levels, and how much each change was. The chart is as wide as its place,
 * and needs "columns", the titles of the commits, once in the page.
 */
#ifndef CHART_H
#define CHART_H

struct changegroups;
struct str;
struct trend_series;
struct trends;

/* Writes the element with a transparent column for each commit, which shows the
 * title of the commit on hover. */
void chart_write_columns(struct str *, const struct trends *);

void chart_write(struct str *, const struct trends *,
    const struct trend_series *, const struct changegroups *);

/* Returns the last value that is not NAN, or NAN. */
double chart_find_last(const struct trends *, const struct trend_series *);

#endif
