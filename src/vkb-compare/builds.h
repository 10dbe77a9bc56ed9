/*
 * How the two builds were made. Counts of work compare two commits only if both
 * have the same compiler and flags. vkb-build notes them in the subject.
 */
#ifndef BUILDS_H
#define BUILDS_H

#include <stdbool.h>

struct json;

/*
 * Can counts of these subjects be judged? They cannot if compiler or flags are
 * known and differ, unless both subjects are the same commit: then the
 * comparison is about the flags.
 */
bool builds_are_comparable(const struct json *base, const struct json *other);

/* Are they commits of a module that ran in two servers? Then a change may come
 * from the server. */
bool builds_have_other_servers(
    const struct json *base, const struct json *other);

/* Returns how they differ, or which of them is not known: "compiler: gcc 12 ->
 * gcc 13; make: CFLAGS=-O2 -> CFLAGS=-O3"; NULL if they do not differ, or both
 * are not known. Caller frees. */
char *builds_describe_difference(
    const struct json *base, const struct json *other);

#endif
