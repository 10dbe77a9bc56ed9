/* Commands of a trace that are not sent, counted by kind. */
#ifndef OMISSIONS_H
#define OMISSIONS_H

#include "engine.h"

struct omissions {
	struct engine_error v[ENGINE_ERRORS]; /* the text says why */
	size_t n;
};

/* Adds 'count' of a kind; if there are too many kinds, to "others". */
void omissions_add(
    struct omissions *, const char *name, const char *why, uint64_t count);

#endif
