/* Files that programs append to, and that are shared or guarded by a lock. */
#ifndef APPENDFILE_H
#define APPENDFILE_H

#include <stdbool.h>

/*
 * Opens a file to read and append, which is made if it is missing; or only to
 * append, if it may not be read. The lock lasts until the descriptor is closed:
 * either several programs append whole lines, or one does, 'alone'; some file
 * systems have no locks. Devices and pipes are not locked. Returns the
 * descriptor, or -1 after reporting an error: another program has the file.
 */
int appendfile_open(const char *path, bool alone);

/*
 * Looks for half a line at the end, as a kill leaves it, which is an error, or
 * with 'repair', for --resume, is cut off with a message. Returns 0, or -1
 * after reporting an error: --resume is for regular files.
 */
int appendfile_check_end(int fd, const char *name, bool repair);

#endif
