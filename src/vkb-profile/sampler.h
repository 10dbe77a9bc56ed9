/* Samples the stacks of a process with perf record, and renders them. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stdbool.h>
#include <sys/types.h>

struct halt;
struct json;
struct perf;

enum sampler_mode { SAMPLER_CPU, SAMPLER_WALL, SAMPLER_OFFCPU };

struct sampler {
	enum sampler_mode mode;
	long long freq;         /* Hz */
	const char *call_graph; /* fp or dwarf */
	bool user_only;         /* sample user space only */
	bool large;             /* use buffers that need CAP_PERFMON */
	const char *dir;        /* existing folder for the files */
	const char *copies;     /* folder for copies of the binaries, or NULL */
};

/* Maps "cpu", "wall", "offcpu"; any other name is "cpu". */
enum sampler_mode sampler_find_mode(const char *name);
const char *sampler_mode_name(enum sampler_mode);

/* Starts perf record, not sampling yet. Returns NULL after reporting an error.
 * Caller frees with perf_free. */
struct perf *sampler_start(const struct sampler *, pid_t);

/*
 * Reads DIR/perf.data (with the binaries of 'copies', if any) and writes
 * stacks.folded, flame.svg and functions.txt. Adds counts to 'sampling' and
 * paths to 'artifacts'. Returns 0, or -1 after reporting an error: also if
 * there are no samples, or if it was interrupted.
 */
int sampler_read(const struct sampler *, const char *title, struct halt *,
    struct json *sampling, struct json *artifacts);

#endif
