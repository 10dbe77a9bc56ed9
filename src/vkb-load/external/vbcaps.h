/* The version and the options of a valkey-benchmark, by its own output. */
#ifndef VBCAPS_H
#define VBCAPS_H

#include <stdbool.h>

struct vbcaps {
	char *path;
	char *version; /* its --version; NULL: unknown */
	char *sha256;  /* of the program; NULL: it cannot be read */
	char *help;    /* its --help */
};

/*
 * Returns 0, or -1 after reporting that the program cannot be run or is not
 * valkey-benchmark. The caller calls vbcaps_free in any case.
 */
int vbcaps_read(struct vbcaps *, const char *path);
void vbcaps_free(struct vbcaps *);

/* Returns its version, or its path if unknown. */
const char *vbcaps_name(const struct vbcaps *);

/* Returns true if the program has the option, such as "--duration". */
bool vbcaps_has(const struct vbcaps *, const char *option);

/* Returns true if its help contains the word, such as "__data__". */
bool vbcaps_mentions(const struct vbcaps *, const char *word);

/* Returns the environment variable for a password, or NULL. */
const char *vbcaps_password(const struct vbcaps *);

#endif
