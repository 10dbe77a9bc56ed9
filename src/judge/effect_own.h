/*
 * What the parts of effect.c share: effect_noise.c, effect_laws.c.
 */
#ifndef EFFECT_OWN_H
#define EFFECT_OWN_H

#include "model.h"

/* The least variance: values are equal, as those of a coarse clock. */
#define EFFECT_LEAST 1e-14

/* What a run is off the mean of its session, or a round off that of its row. */
struct residual {
	size_t row;
	int side;             /* 2: of a round */
	struct model_run run; /* y: the residual */
};

/* The weighted mean of the residuals at one time; a side of a session is a
 * series. */
struct common {
	int side;
	uint32_t session;
	double e;
};

/* The runs of one session of a row. */
struct cell {
	uint32_t session;
	double n[2], mean[2];
};

struct effect {
	struct model_row *rows;
	size_t n;
	const struct model_prior *prior;
	struct model_metric *metric;
	struct cell **cells; /* of each row */
	size_t *ncells;
	struct residual *residuals;
	size_t nresiduals;
	struct common *common;
	size_t ncommon;
	/* Of each row, by the side of its residuals: */
	double (*weights)[3];        /* in what all share */
	struct moderate (*noise)[3]; /* without the machine's */
	struct moderate priors[3];   /* by side; of rounds */
	struct moderate *between;    /* of rounds, by the means of sessions */
	struct moderate of_between;  /* their prior */
	size_t sessions;             /* one more than their largest number */
	size_t count[2];             /* sessions of each side, unpaired rows */
	struct moderate session;     /* variance of S */
	struct moderate *cases, of_cases; /* of T for each row; their prior */
	double *runs; /* how much of that is the noise of the runs */
	double most_shared;
};

/* Collects the residuals of all rows, and measures their noise and what they
 * share at each time. Rows get their rounds, and paired ones their change. */
void effect_measure_noise(struct effect *);

/* Returns the variance of a run of one side, or of a round, shrunk towards that
 * of the other rows; df below 1: nothing is known of it. */
struct moderate effect_find_noise(const struct effect *, size_t row, int side);

/* Returns the same of a round; if the means of several sessions differ more
 * than rounds do, that of these means, drawn to what is assumed of sessions. */
struct moderate effect_find_round_noise(const struct effect *, size_t row);

/* Returns the end of the session that begins at run i of a side. */
size_t effect_end_session(const struct model_row *, int side, size_t i);

/* Returns how many sessions a side of a row has, and sets *mean, unless it is
 * NULL, to the mean of theirs. */
double effect_count_sessions(
    const struct effect *, size_t row, int side, double *mean);

double effect_find_mean(const struct model_run *, size_t n);

/* Sets the laws of the machine's change. */
void effect_set_laws(struct effect *);

#endif
