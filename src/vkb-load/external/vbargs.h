/* The command line of valkey-benchmark for a case. */
#ifndef VBARGS_H
#define VBARGS_H

#include <stdbool.h>

#include "vkb-load/engine/engine.h"

struct vbcaps;

/* The length of one process of the program. */
struct vbargs_length {
	long long requests; /* 0: by duration */
	double duration_s, warmup_s;
};

/* Returns the argument list; NULL ends it. Free with mem_free_list. */
char **vbargs_make(const struct vbcaps *, const struct engine_target *,
    const struct engine_work *, const struct vbargs_length *);

/* Returns the command line, quoted for a shell; caller frees. */
char *vbargs_text(char *const *argv);

/*
 * Returns the words of the command, or NULL if the program has that test. Free
 * with mem_free_list.
 */
char **vbargs_words(
    const struct vbcaps *, const struct engine_work *, bool cluster);

/*
 * Returns true if a value of 'size' bytes fits into an argument, or is not
 * needed in one.
 */
bool vbargs_fits(const struct vbcaps *, const char *command, double size);

#endif
