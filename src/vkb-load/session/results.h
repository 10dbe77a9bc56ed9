/*
 * Writes records to stdout or appends them to a file. A record is on disk
 * before the next run starts.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include <stdbool.h>
#include <stddef.h>

struct intact;
struct intern;
struct json;

/* A run that succeeded in an earlier session. */
struct finished {
	struct json *metrics;
	char *tool; /* env.benchmark_tool_sha256 of the engine */
};

struct results {
	unsigned part; /* of the load, whose records are resumed; 0: whole */
	int fd;
	const char *path;      /* of the file, or NULL; borrowed */
	struct intact *intact; /* of the file, or of that of stdout; or NULL */
	struct finished *done; /* by the number of the run in 'keys' */
	struct intern *keys;   /* of runs; or NULL */
	size_t n, cap;
	size_t last; /* highest index in the file */
};

/*
 * Opens 'output' to append; or 'resume', after its finished runs were read and
 * a torn last line was cut off; stdout if both are NULL. Several programs may
 * append to one file, but only one if it is resumed. 'part' is that of a load
 * that several programs make, or 0. 0, or -1, error reported.
 */
int results_open(
    struct results *, const char *output, const char *resume, unsigned part);
/* Returns 0, or -1 after reporting that the file was changed meanwhile. */
int results_close(struct results *);

/* Returns the first finished run of this identity and index, which was counted
 * or measured, or NULL. */
const struct finished *results_find(const struct results *,
    const struct json *subject, const struct json *config, size_t index,
    bool counted);

int results_write(struct results *, struct json *run);

/* Writes them in one piece, of which a part may be in the file if it fails. 0,
 * or -1, error reported; also after writing them, if what the file had before
 * was changed. */
int results_write_all(struct results *, struct json *const *runs, size_t n);

#endif
