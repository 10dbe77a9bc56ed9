/* Which valkey-benchmark it is, and what it can do: by what it says itself. */
#ifndef VBCAPS_H
#define VBCAPS_H

#include <stdbool.h>

struct vbcaps {
	char *path;
	char *version; /* its --version; NULL: it has none */
	char *sha256;  /* of the program; NULL: it cannot be read */
	char *help;    /* its --help */
};

/* The file of a name, looked for in PATH; NULL: there is none. Caller frees. */
char *vbcaps_find(const char *name);

/* 0, or -1 and said: it is not there, or is none. vbcaps_free anyway. */
int vbcaps_read(struct vbcaps *, const char *path);
void vbcaps_free(struct vbcaps *);

/* Its version, or its path where it says none. */
const char *vbcaps_name(const struct vbcaps *);

/* "--duration": is it among its options? */
bool vbcaps_has(const struct vbcaps *, const char *option);

/* "__data__": does its help speak of it? */
bool vbcaps_says(const struct vbcaps *, const char *word);

/* The variable that takes a password; NULL: it knows none. */
const char *vbcaps_password(const struct vbcaps *);

#endif
