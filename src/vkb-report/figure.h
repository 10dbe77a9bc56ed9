/*
 * The plots there are: which can be drawn from what was read, by a name, and
 * how. Each adds an SVG.
 */
#ifndef FIGURE_H
#define FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

struct plot;
struct str;

enum figure_kind {
	FIGURE_COMPARISON,
	FIGURE_RUNS,
	FIGURE_LATENCY,
	FIGURE_SHIFT,
	FIGURE_SERIES,
	FIGURE_HISTORY,
	FIGURE_SCALING,
	FIGURE_KINDS
};

struct figure {
	enum figure_kind kind;
	const struct kase *kase; /* NULL: of no case */
	const char *metric; /* or name of a histogram or series; borrowed */
	size_t group;       /* of scaling */
	char *name;         /* runs-1-rps: for --svg */
	char *title;        /* for people */
	char *brief;        /* the same beside the name of its case */
};

struct figures {
	const struct model *m;
	struct figure *v;
	size_t n, cap;
	struct scaling *scaling;
};

void figures_new(struct figures *, const struct model *);
void figures_free(struct figures *);

/* NULL: there is none of that name. */
const struct figure *figures_find(const struct figures *, const char *name);

/* 'whole': for a file of its own. */
void figure_draw(
    struct str *, const struct figures *, const struct figure *, bool whole);

/* --- for those that draw */

enum { FIGURE_DOTS = 200 };

/* Those of the subjects that have a look; how many. */
size_t figure_cells(const struct kase *, const struct cell *to[MODEL_LOOKS]);

void figure_runs(
    struct plot *, const char *metric, const struct cell *const *, size_t n);
void figure_latency(
    struct plot *, const char *hist, const struct cell *const *, size_t n);
void figure_shift(struct plot *, const struct json *shift);
void figure_series(
    struct plot *, const char *name, const struct cell *const *, size_t n);
void figure_history(struct plot *, const struct model *, const struct kase *,
    const char *metric);
void figure_comparison(struct str *, const struct model *, bool whole);

/* Cells with a histogram or a course of that name. */
bool figure_has_hist(const struct cell *, const char *name);
bool figure_has_series(const struct cell *, const char *name);

#endif
