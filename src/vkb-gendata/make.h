/*
 * Brings the files of recipes up to date: makes those that are missing or were
 * made by another recipe, and leaves those that other programs made.
 */
#ifndef MAKE_H
#define MAKE_H

#include <stdbool.h>

struct recipes;

struct make {
	const char *dir;
	const char *wikipedia; /* path or URL of a wiki dump; NULL: use the
				* built-in text */
	const char *sha1;      /* expected of the dump; NULL: as published */
	long long seed, threads;
	const struct recipes *recipes;
	bool force, quiet;
};

/*
 * Sets states[i] for each chosen recipe file i: enum sidecar_state, or -1 on
 * error. Returns 0, or -1 (errors reported).
 */
int make_find_states(const struct make *, const bool *chosen, int *states);

/*
 * Makes each chosen recipe file and the files it is made of, which become
 * chosen too. Continues after errors. Returns 0, or -1 (errors reported).
 */
int make_files(const struct make *, bool *chosen);

#endif
