/*
 * The exact nearest neighbours of the vectors of one file among those of
 * another, as .ivecs: for each query k and the numbers (from 0) of the rows,
 * the nearest first, equal ones by number. Vectors are made again, not read,
 * so memory holds the queries, k neighbours of each for every thread, and
 * little else.
 */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <stddef.h>
#include <stdint.h>

#include "recipe.h"

struct checksum;
struct vectors;

struct neighbours {
	const struct recipe_file *base, *queries;
	size_t k;
	enum recipe_metric metric;
	uint64_t seed;
	size_t threads;
	const struct vectors *vectors;
	/* Called with the rows of the base that are done; one at a time. */
	void (*progress)(void *arg, uint64_t rows, uint64_t bytes);
	void *arg;
};

/* Writes to 'fd'; 'name' is for messages. 0, or -1 and said. */
int neighbours_file(
    const struct neighbours *, int fd, const char *name, struct checksum *);

#endif
