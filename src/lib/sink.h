/*
 * Text for a descriptor, written piece by piece as it grows; or, without one,
 * text that stays.
 *
 *	struct sink o = {.fd = 1};
 */
#ifndef SINK_H
#define SINK_H

#include <stdbool.h>

#include "str.h"

struct sink {
	struct str s; /* what is to be written */
	int fd;       /* -1: it stays */
	int rc;       /* -1: it could not be written, which was said */
	bool begun;   /* some of it is written */
};

/* Writes what there is, where it is much. */
void sink_relieve(struct sink *);

/* Writes the rest and frees it; -1 where anything could not be written. */
int sink_close(struct sink *);

#endif
