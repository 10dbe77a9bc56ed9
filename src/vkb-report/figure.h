/*
 * The figures of a report: chooses which can be drawn from the model, names
 * them and draws each as SVG.
 */
#ifndef FIGURE_H
#define FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

struct scaling_group;
struct shift;
struct str;

enum figure_kind {
	FIGURE_COMPARISON,
	FIGURE_RUNS,
	FIGURE_LATENCY,
	FIGURE_SHIFT,
	FIGURE_SERIES,
	FIGURE_CURVE,
	FIGURE_HISTORY,
	FIGURE_SCALING,
	FIGURE_VALUES,
	FIGURE_KINDS
};

struct figure {
	enum figure_kind kind;
	const struct model_case *kase; /* NULL: not of one case */
	const char *metric; /* or name of a histogram or series; borrowed */
	const struct shift *shift;
	size_t group; /* index of the scaling group */
	char *name;   /* for --svg, such as runs-1-rps */
	char *title;  /* for people */
	char *brief;  /* the title without the name of the case */
};

struct figures {
	const struct model *m;
	const char *metrics; /* of --metrics; borrowed */
	struct figure *v;
	size_t n, cap;
	struct scaling_group *groups; /* cases that differ in one number */
	size_t ngroups, gcap;
};

/* 'metrics' is as in metric_is_shown, but without it also the metrics that a
 * comparison found changed are drawn. */
void figures_new(struct figures *, const struct model *, const char *metrics);
void figures_free(struct figures *);

/* Returns NULL if no figure has that name. */
const struct figure *figures_find(const struct figures *, const char *name);

/* Appends the SVG. 'whole': a separate file, with style and legend. */
void figure_draw(
    struct str *, const struct figures *, const struct figure *, bool whole);

/* Collects the cells whose subject has a look. Returns their number. */
size_t figure_cells(
    const struct model_case *, const struct cell *to[MODEL_LOOKS]);

/* Writes "throughput, req/s". */
void figure_label(struct str *, const char *metric);

/* Returns each of the *n metrics of a case once; the caller frees the array. */
const char **figure_metrics(const struct model_case *, size_t *n);

#endif
