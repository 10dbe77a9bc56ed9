/*
 * Where the runs go: stdout, or a file that only grows. A record is on disk
 * before the next run starts.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include <stdbool.h>
#include <stddef.h>

struct json;

/* A run that went well before this session. */
struct finished {
	char *key;
	size_t place;             /* in the file */
	unsigned long long looks; /* looks_hash of it */
	struct json *metrics;     /* of adaptive sessions, other engines */
	char *tool;               /* env.benchmark_tool_sha256, of those */
};

struct results {
	int fd;
	bool file;
	const char *path;      /* of the file, or NULL; borrowed */
	const char *name;      /* the same where it is resumed, or NULL */
	struct finished *done; /* sorted */
	size_t n, cap;
	size_t last; /* highest index in it */
};

/*
 * 'output' is appended to; 'resume' as well, after its finished runs were read
 * and a torn last line was cut off. Several may append to one file, but none to
 * one that is resumed. Both NULL: stdout. 0, or -1 and said.
 */
int results_open(struct results *, const char *output, const char *resume);
void results_close(struct results *);

/* This repetition, the first of its kind in the file; NULL: it is to be done.
 */
const struct finished *results_find(const struct results *,
    const struct json *subject, const struct json *config, size_t index);

int results_write(struct results *, struct json *run);

/* Several in one write: all of them are there, or none. */
int results_write_all(struct results *, struct json *const *runs, size_t n);

#endif
