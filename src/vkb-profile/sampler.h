/*
 * Stacks of a process: perf record, and what is made of it.
 */
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
	bool user_only;         /* the kernel may not be watched */
	bool large;       /* buffers larger than those of ordinary users */
	const char *dir;  /* where its files go, which is there */
	const char *keep; /* folder for copies of the binaries; or NULL */
};

/* "cpu", "wall", "offcpu"; of any other it is "cpu". */
enum sampler_mode sampler_mode_of(const char *name);
const char *sampler_mode_name(enum sampler_mode);

/* NULL, and said. */
struct perf *sampler_start(const struct sampler *, pid_t);

/*
 * From DIR/perf.data (with binaries of 'keep', where they are) to
 * stacks.folded, flame.svg and functions.txt; what was found is added to
 * 'sampling' and the paths to 'artifacts'. 0, or -1 and said: there were no
 * samples, or it was stopped.
 */
int sampler_read(const struct sampler *, const char *title, struct halt *,
    struct json *sampling, struct json *artifacts);

#endif
