/*
 * Makes the rows of a file on several threads: each takes the next block of
 * rows, makes it, and writes it when the blocks before it are written. A row
 * depends only on its number, so any number of threads makes the same bytes.
 */
#ifndef PRODUCE_H
#define PRODUCE_H

#include <stddef.h>
#include <stdint.h>

struct articles;
struct checksum;
struct recipe_file;
struct vectors;
struct vocabulary;

struct produce {
	const struct recipe_file *file;
	uint64_t seed;
	size_t threads;
	const struct vocabulary *words;
	const struct vectors *vectors;
	struct articles *articles; /* NULL: use the built-in text */
	/* Called with the rows and bytes so far, by one thread at once. */
	void (*progress)(void *arg, uint64_t rows, uint64_t bytes);
	void *arg;
};

/* Returns a hash of seed and file name, which the rows are seeded with. */
uint64_t produce_compute_salt(uint64_t seed, const char *name);

/*
 * Writes the file to 'fd' and adds all its bytes to the checksum, which it
 * initializes; 'name' is for messages. Returns 0, or -1 (error reported).
 */
int produce_write_file(
    const struct produce *, int fd, const char *name, struct checksum *);

#endif
