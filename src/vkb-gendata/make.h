/*
 * Brings the files of recipes up to date: those that are missing or that
 * another recipe made are made; those that are not ours stay as they are.
 */
#ifndef MAKE_H
#define MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recipe_file;
struct recipes;

struct make {
	const char *dir;
	uint64_t seed;
	size_t threads;
	const struct recipes *recipes;
	bool force, quiet;
};

/* enum sidecar_state; -1, and said. */
int make_state(const struct make *, const struct recipe_file *);

/*
 * Those that are chosen, by place, and what they are made of. 0, or -1 and
 * said: what can be made is made.
 */
int make_all(const struct make *, bool *chosen);

#endif
