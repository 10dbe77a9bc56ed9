/*
 * Subjects of one name, such as two builds of one commit, told apart.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stddef.h>

struct comparison;

/* Each such name gets the keys in which the subjects differ: "x [build=O3]". */
void subject_tell_apart(struct comparison *, size_t n);

#endif
