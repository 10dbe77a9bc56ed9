/*
 * Finds subjects by name, and distinguishes those that share a name.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stddef.h>

struct cases;
struct comparison;

#define SUBJECT_DIGITS 4 /* least digits that name a commit */

/*
 * Returns the index of the subject with this label; if none has it, with this
 * ref; then with this commit (or its first SUBJECT_DIGITS digits or more); then
 * with this server version. Returns -1, after listing the subjects in an error
 * message, if there is none, or if the first of these kinds matches several.
 */
int subject_find(const struct cases *, const char *name);

/* Returns 0 if there is one subject; -1, after listing them in an error
 * message, if there are several, and after reporting it, if there is none. */
int subject_check_only(const struct cases *, const char *what);

/* Names subjects without a label, commit or version by their files: the first
 * is that of the baseline, the others those of the contender; none: stdin. */
void subject_name_by_files(struct comparison *, char *const *paths, size_t n);

/* Adds to names that several subjects share, as two builds of one commit, the
 * keys in which they differ: "x [build=O3]". */
void subject_tell_apart(struct comparison *, size_t n);

#endif
