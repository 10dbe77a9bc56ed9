/*
 * Subjects by name: what people call them, and such as share a name.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stddef.h>

struct cases;
struct comparison;
struct json;

/* "unstable (1f9c0ab2)"; caller frees with free(). */
char *subject_name(const struct json *subject);

/*
 * The place of the subject that 'name' means: its label, and where none has it
 * a ref, server version, or the first 4 characters or more of a commit. -1, and
 * said with a list, when there is none or more than one.
 */
int subject_find(const struct cases *, const char *name);

/* The only subject; -1, and said with a list, when there are several. */
int subject_only(const struct cases *, const char *what);

/* Each name of several, as of two builds of one commit, gets the keys in which
 * they differ: "x [build=O3]". */
void subject_tell_apart(struct comparison *, size_t n);

#endif
