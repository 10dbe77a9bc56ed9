/*
 * What a person sees of a session: on a terminal one line that is redrawn,
 * otherwise, and only with -v, a line for each finished run.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct engine_progress;

struct progress {
	bool live, lines;
	size_t total, done; /* runs */
	double *took;  /* seconds of the last run of each case; 0 unknown */
	bool most;     /* total and the time left are at most so */
	double left_s; /* of the runs from this one on; < 0 unknown */
	const char *name;
	int64_t started, drawn;
};

void progress_open(struct progress *, bool quiet, bool verbose, size_t ncases);
void progress_close(struct progress *);

/* Seconds that a run of this case takes; < 0: not known yet. */
double progress_guess(
    const struct progress *, size_t cas, const struct json *config);

/* Before anything else is written to the terminal. */
void progress_wipe(void);

void progress_begin(struct progress *, const char *name, double left_s);
void progress_draw(void *progress, const struct engine_progress *);
/* 'rec' is the run; NULL: it was not finished. */
void progress_end(struct progress *, size_t cas, const struct json *rec);

#endif
