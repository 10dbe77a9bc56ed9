/*
 * The append-only file of a server: one file, perhaps behind an RDB, or a
 * folder with a manifest. An RDB holds data and no commands, so it is skipped.
 */
#ifndef AOF_H
#define AOF_H

#include <stdio.h>

struct recorder;

int aof_is_folder(const char *path);
/* May a file that begins with this character be one? */
int aof_is(int c);

/*
 * Records all commands of a file, from its begin. Returns 0, or -1 after
 * reporting what is wrong at which offset; what came before is recorded.
 */
int aof_read(struct recorder *, FILE *in, const char *name);

/* The same for the files of a folder, by its manifest. */
int aof_read_folder(struct recorder *, const char *path);

#endif
