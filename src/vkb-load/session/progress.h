/*
 * Progress of a session on stderr: on a terminal one line that is redrawn, else
 * one for each round; with -v a line for each finished run.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "statusline.h"

struct bench_load;
struct json;
struct engine_progress;

struct progress {
	struct statusline line;
	bool lines, quiet;
	size_t total, done; /* runs */
	size_t round;       /* of the last run */
	double *took;  /* seconds of the last run of each case; 0: unknown */
	double beside; /* seconds of the runs so far beside load and warm-up */
	size_t timed;  /* number of these runs */
	double reference; /* runs of the reference for each run */
	bool most;        /* left_s is an upper limit; the total is unknown */
	double left_s;    /* from this run on; < 0: unknown */
	const char *name;
	int64_t started; /* ns of clock_ns */
};

void progress_open(struct progress *, bool quiet, bool verbose, size_t ncases);
void progress_close(struct progress *);

/* Returns the seconds that a run of a case takes, with what the server and the
 * keys before it took in the runs so far; < 0 if unknown. */
double progress_estimate(
    const struct progress *, size_t cas, const struct bench_load *);

/* 'round' is the round of the run, 'rounds' their number; 0 if
 * there are none, or their number is not known.
 * Without a terminal a line says that the round before it has ended. */
void progress_begin(struct progress *, const char *name, size_t round,
    size_t rounds, double left_s);
void progress_draw(void *progress, const struct engine_progress *);
/* 'rec' is the run record; 'together': how many runs have been going on since
 * progress_begin. */
void progress_end(struct progress *, size_t cas, const struct bench_load *,
    const struct json *rec, size_t together);

/* Returns "; TEXT with: vkb-load --resume PATH COMMAND", which a shell can run;
 * NULL without a path. Caller frees. 'command' are the words of the arguments,
 * or NULL. If it 'has_stdin', the text names the standard input. */
char *progress_format_resume(
    const char *text, const char *command, const char *path, bool has_stdin);

#endif
