/* The command line of valkey-benchmark for a case. */
#ifndef VBARGS_H
#define VBARGS_H

#include <stdbool.h>

#include "vkb-load/engine/engine.h"

struct vbcaps;

struct vbargs {
	const struct vbcaps *caps;
	const struct engine_target *target;
	const struct engine_work *work;
	long long requests; /* 0: by duration */
	double duration_s, warmup_s;
};

/* NULL ends it; vbargs_free. */
char **vbargs_make(const struct vbargs *);
void vbargs_free(char **);

/* As a person would type it; caller frees. */
char *vbargs_text(char *const *argv);

/* The words, or NULL: it is a test of its own. Free with vbargs_free. */
char **vbargs_words(
    const struct vbcaps *, const struct engine_work *, bool cluster);

/* Can a value of so many bytes be given to it, where it must be an argument? */
bool vbargs_fits(const struct vbcaps *, const char *command, double size);

#endif
