/*
 * Subjects by name: what people call them, and such as share a name.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stddef.h>

struct cases;
struct comparison;

#define SUBJECT_DIGITS 4 /* the fewest that stand for a commit */

/*
 * The place of the subject that 'name' means: the one with this label; if none
 * has it, the one with this ref; then this commit (or its first SUBJECT_DIGITS
 * digits or more); then this server version, which builds of one branch share.
 * Returns -1, with the subjects in an error message, if the first of these
 * that any subject has is that of several, or if no subject has any.
 */
int subject_find(const struct cases *, const char *name);

/* The only subject; -1, and said with a list, when there are several. */
int subject_only(const struct cases *, const char *what);

/* Each name of several, as of two builds of one commit, gets the keys in which
 * they differ: "x [build=O3]". */
void subject_tell_apart(struct comparison *, size_t n);

#endif
