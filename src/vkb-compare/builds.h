/*
 * How the two builds were made: counts of work tell of a commit only if
 * compiler and flags are the same. vkb-build notes them in the subject.
 */
#ifndef BUILDS_H
#define BUILDS_H

#include <stdbool.h>

struct json;

/*
 * Can counts of these subjects be judged? They cannot if compiler or flags are
 * known and differ, unless both are the same commit: then the flags are what is
 * compared.
 */
bool builds_are_comparable(const struct json *base, const struct json *other);

/* Returns in what they differ, or that it is not known: "compiler: gcc 12 ->
 * gcc 13; make: CFLAGS=-O2 -> CFLAGS=-O3"; NULL: in nothing, or neither is
 * known. Caller frees. */
char *builds_describe_difference(
    const struct json *base, const struct json *other);

#endif
