/*
 * Files that appear whole: written without a name (O_TMPFILE; if the file
 * system lacks it, under a hidden name), synced, then renamed into place. With
 * O_TMPFILE a killed program leaves nothing behind, unless it replaces a file
 * and is killed between two system calls. For a symbolic link the file it
 * points to is replaced. Devices, pipes and the files that stdout or stderr go
 * to are written in place.
 */
#ifndef TEMPFILE_H
#define TEMPFILE_H

#include <stdio.h>

struct tempfile;

/* 'path' is the final name. Returns NULL after reporting the error. */
struct tempfile *tempfile_open(const char *path);
FILE *tempfile_stream(struct tempfile *); /* borrowed */
/* Taken. Returns 0, or -1 after reporting the error. */
int tempfile_commit(struct tempfile *);
void tempfile_discard(struct tempfile *); /* taken; NULL does nothing */

/* Writes a text without its secrets (redact.h) to 'path', synced. Returns 0, or
 * -1 after reporting the error. */
int tempfile_write(const char *path, const char *text, size_t n);

#endif
