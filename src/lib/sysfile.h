/*
 * Small text files of the kernel below a root: "" is this machine, a test has
 * trees of its own. Nothing is said of what cannot be read: it is not known.
 */
#ifndef SYSFILE_H
#define SYSFILE_H

#include <stdbool.h>

/* The first line without blanks at its ends; NULL: none. Caller frees. */
char *sysfile_line(const char *root, const char *path);

/* The number it begins with; NAN. */
double sysfile_num(const char *root, const char *path);

/*
 * The rest of the first line that begins with 'key', without blanks, colons,
 * equal signs and quotes around it; NULL: none. Caller frees.
 */
char *sysfile_value(const char *root, const char *path, const char *key);

/* The paths, without the root, that match: by version, NULL at the end. Caller
 * frees with sysfile_list_free. */
char **sysfile_glob(const char *root, const char *pattern);
void sysfile_list_free(char **);

/* The different first lines of all that match, with commas; NULL: none. */
char *sysfile_all(const char *root, const char *pattern);

bool sysfile_exists(const char *root, const char *path);

#endif
