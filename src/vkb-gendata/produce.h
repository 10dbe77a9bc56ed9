/*
 * Makes the rows of a file, on several threads: each takes the next rows,
 * makes them, and writes them when it is their turn. What a row has depends on
 * its number alone, so the bytes are the same for any number of threads.
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
	struct articles *articles; /* NULL: the text is the built-in one */
	/* Called now and then with the rows and bytes so far; one at a time. */
	void (*progress)(void *arg, uint64_t rows, uint64_t bytes);
	void *arg;
};

/* What makes the file's rows its own. */
uint64_t produce_salt(uint64_t seed, const char *name);

/*
 * Writes the file to 'fd'; 'name' is for messages. 0, or -1 and said. The sum
 * is of all that was written.
 */
int produce_file(
    const struct produce *, int fd, const char *name, struct checksum *);

#endif
