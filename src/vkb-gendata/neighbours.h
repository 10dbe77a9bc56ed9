/*
 * Finds the exact k nearest neighbours of each query vector among the base
 * vectors, and writes them as .ivecs: for each query k and k row numbers (from
 * 0), nearest first, ties by number. Base vectors are generated again, not
 * read, so memory holds the queries and k neighbours of each for every thread.
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
	/* Called by one thread at once, with base rows and bytes searched. */
	void (*progress)(void *arg, uint64_t rows, uint64_t bytes);
	void *arg;
};

/* Writes to 'fd'; 'name' is for messages. Returns 0, or -1 (error reported). */
int neighbours_write_file(
    const struct neighbours *, int fd, const char *name, struct checksum *);

#endif
