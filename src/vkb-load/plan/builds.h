/* The servers that are measured: build records, or one binary. */
#ifndef BUILDS_H
#define BUILDS_H

#include <stddef.h>

struct json;

struct builds {
	struct json **v;
	size_t n, cap;
	size_t failed; /* builds that failed: said, and left out */
};

/* 0, or -1 and said; builds_free in either case. */
int builds_read(struct builds *, const char *file);

/* One, of a path (NULL: what vkb-serve takes), called 'label' if not NULL. */
void builds_single(struct builds *, const char *path, const char *label);
/* A module for all of them, instead of their own. 0, or -1 and said. */
int builds_module(struct builds *, const char *file);
void builds_free(struct builds *);

#endif
