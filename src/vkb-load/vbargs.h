/* The command line of valkey-benchmark for a case. */
#ifndef VBARGS_H
#define VBARGS_H

#include "engine.h"

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

/* The words of the command, or NULL: it is a test of the program's own. */
char **vbargs_words(const char *command);

#endif
