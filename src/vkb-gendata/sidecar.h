/*
 * What is known of a made file, in FILE.spec beside it: the hash of its
 * recipe, its size, the hash of its content and when it was written. So a
 * recipe that changed makes it again, and a file that somebody else made or
 * changed is not taken for ours.
 */
#ifndef SIDECAR_H
#define SIDECAR_H

#include <stdint.h>

enum sidecar_state {
	SIDECAR_MISSING, /* there is no such file */
	SIDECAR_CURRENT, /* it is what the recipe makes */
	SIDECAR_STALE,   /* it is what another recipe made */
	SIDECAR_CHANGED, /* it was made, and changed since */
	SIDECAR_FOREIGN  /* nobody knows who made it */
};

/* -1, and said, where it cannot be told. */
int sidecar_state(const char *path, uint64_t recipe);

/* Of a file that is there. 0, or -1 and said. */
int sidecar_write(
    const char *path, uint64_t recipe, uint64_t content, uint64_t bytes);

#endif
