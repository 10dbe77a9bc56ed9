/*
 * The run directory: configuration files, sockets, logs and certificates of
 * the servers, for the owner alone (0700).
 */
#ifndef RUNDIR_H
#define RUNDIR_H

#include <stdbool.h>

struct guard;

struct rundir {
	char *path; /* absolute */
	bool keep;
	unsigned next;
	bool tls; /* certificates are there, in PATH/tls */
	int lock; /* held on PATH: its owner lives */
};

/*
 * 'dir' NULL: a new one under TMPDIR, removed at the end unless 'keep', by the
 * guardian if need be; those of owners that are gone are removed. Otherwise
 * that one, made where missing, and kept. 0, or -1 and said.
 */
int rundir_make(struct rundir *, struct guard *, const char *dir, bool keep);
void rundir_close(struct rundir *);

/* A new folder inside; NULL, and said; caller frees with free(). */
char *rundir_new(struct rundir *);

/* Certificates, made once, in PATH/tls. 0, or -1 and said. */
int rundir_tls(struct rundir *, const char *host);

/* $TMPDIR, else /tmp. */
const char *rundir_tmp(void);

#endif
