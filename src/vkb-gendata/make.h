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
	const char *wikipedia; /* dump of a wiki, or its URL; NULL: the built-in
				* text is taken */
	const char *sha1;      /* of what is fetched; NULL: as published */
	uint64_t seed;
	size_t threads;
	const struct recipes *recipes;
	bool force, quiet;
};

/*
 * Of the chosen files, by place: enum sidecar_state, -1 where it cannot be
 * told. 0, or -1 and said.
 */
int make_states(const struct make *, const bool *chosen, int *states);

/*
 * Those that are chosen, by place, and what they are made of. 0, or -1 and
 * said: what can be made is made.
 */
int make_all(const struct make *, bool *chosen);

#endif
