/*
 * Files that appear whole: written under no name at all (O_TMPFILE; where the
 * file system lacks it, under a hidden name), synced, then renamed into place.
 * A killed program leaves nothing behind. A link stays one: its file is
 * replaced. Devices and pipes, and what stdout or stderr goes to, stay what
 * they are: they are written to.
 */
#ifndef TEMPFILE_H
#define TEMPFILE_H

#include <stdio.h>

struct tempfile;

/* 'path' is the final name (copied). NULL, and said, when it cannot be made. */
struct tempfile *tempfile_open(const char *path);
FILE *tempfile_stream(struct tempfile *); /* borrowed */
int tempfile_commit(struct tempfile *);   /* taken; 0 or -1, said */
/* The same, but not synced: a power failure may take it or empty it. */
int tempfile_place(struct tempfile *);
void tempfile_discard(struct tempfile *); /* taken; NULL does nothing */

#endif
