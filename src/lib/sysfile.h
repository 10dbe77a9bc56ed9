/*
 * Small text files of the kernel, below 'root': "" for this machine; tests use
 * trees of their own. A file that cannot be read is not reported.
 */
#ifndef SYSFILE_H
#define SYSFILE_H

#include <stdbool.h>
#include <stdio.h>

/* Returns the trimmed first line, or NULL if it is blank. Caller frees. */
char *sysfile_line(const char *root, const char *path);

/* The same, or of "always [madvise] never" madvise. */
char *sysfile_chosen(const char *root, const char *path);

/* Returns the number that the file begins with, or NAN. */
double sysfile_num(const char *root, const char *path);

/*
 * Returns the rest of the first line that begins with 'key', without blanks,
 * colons, equal signs and quotes around it, or NULL. Caller frees.
 */
char *sysfile_value(const char *root, const char *path, const char *key);
/* Returns the number that this begins with; NAN if there is no value. */
double sysfile_value_num(const char *root, const char *path, const char *key);

/* Opens the file to read it. Returns NULL with errno. */
FILE *sysfile_open(const char *root, const char *path);

/* Returns the matching paths, without the root, in version order; NULL ends the
 * list. Caller frees with mem_free_list. */
char **sysfile_glob(const char *root, const char *pattern);

/* Returns the different first lines of the matching files, separated by commas,
 * or NULL. Caller frees. */
char *sysfile_all(const char *root, const char *pattern);

bool sysfile_exists(const char *root, const char *path);

#endif
