/* Makes, removes and measures folders. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>
#include <stddef.h>

struct str;

/* Makes a folder and its parents. Returns 0, or -1 and an error is reported. */
int folder_make(const char *path);

/* Removes a folder, which may be missing. Returns 0, or -1 with errno. */
int folder_remove(const char *path);

/* Locks a folder until the descriptor that it returns is closed. If another
 * program has it, waits, or returns -2. Returns -1 after reporting an error. */
int folder_lock(const char *path, bool wait);

/*
 * Removes the oldest files and folders in 'dir' whose names begin with 'prefix'
 * and that are ours, except the newest n and those that a program has locked
 * (flock). What cannot be removed stays.
 */
void folder_keep_newest(const char *dir, const char *prefix, size_t n);

/*
 * Appends a name as one part of a path that is neither hidden nor "..":
 * slashes, backslashes, blanks, control characters and a leading dot become _.
 */
void folder_add_part(struct str *, const char *name);

/* Opens a file in 'dir' that vanishes when it is closed. Returns the
 * descriptor, or -1 with errno. */
int folder_unnamed_file(const char *dir);

/* Returns the bytes that its files take on the disk. */
unsigned long long folder_bytes(const char *path);

#endif
