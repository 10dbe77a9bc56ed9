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
struct sidecar_content;
struct meter;
struct recipe_file;
struct vocabulary;

struct produce {
	const struct recipe_file *file;
	uint64_t seed;
	size_t threads;
	const struct vocabulary *words;
	struct articles *articles; /* NULL: use the built-in text */
	struct meter *meter;       /* shows the rows and bytes so far */
};

/* Returns a hash of seed and file name, which the rows are seeded with. */
uint64_t produce_compute_salt(uint64_t seed, const char *name);

/* Calls work(arg) in n threads, the caller's among them, or in fewer if no more
 * can be started. Returns when all have ended. */
void produce_run_threads(size_t n, void *(*work)(void *), void *arg);

/* Writes the file with sidecar_append. Returns 0, or -1 (error reported). */
int produce_write_file(const struct produce *, struct sidecar_content *);

#endif
