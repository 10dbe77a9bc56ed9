/*
 * FILE.spec beside each generated file holds the hash of its recipe, its size,
 * the hash of its content and its modification time. With it, a file whose
 * recipe changed is made again, and a file that another program made or changed
 * is recognized.
 */
#ifndef SIDECAR_H
#define SIDECAR_H

#include <stdint.h>

struct hash;
struct str;

/* A file that is being written. */
struct sidecar_content {
	int fd;
	const char *name; /* for messages; borrowed */
	struct hash *hash;
	uint64_t bytes;
};

enum sidecar_state {
	SIDECAR_MISSING, /* the file does not exist */
	SIDECAR_CURRENT, /* this recipe made it */
	SIDECAR_STALE,   /* another recipe made it */
	SIDECAR_CHANGED, /* it was changed after it was made */
	SIDECAR_FOREIGN  /* it has no sidecar */
};

/* Returns enum sidecar_state, or -1 (error reported). */
int sidecar_find_state(const char *path, uint64_t recipe);

/* Writes the text to the file. Returns 0, or -1 (error reported). */
int sidecar_append(struct sidecar_content *, const struct str *);

/*
 * Writes the sidecar of a file that was written, and ends the hash of its
 * content. Returns 0, or -1 (error reported).
 */
int sidecar_write(const char *path, uint64_t recipe, struct sidecar_content *);

#endif
