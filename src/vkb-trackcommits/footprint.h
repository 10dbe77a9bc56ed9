/*
 * Identifies a configuration: a hash of its content (64-bit FNV-1a of the JSON
 * text with sorted keys), and a set of hashes of what it covers, one for each
 * combination of its crossed lists (commands, sizes, ...) with its other
 * members.
 */
#ifndef FOOTPRINT_H
#define FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>

struct json;

#define FOOTPRINT_HASH 17

struct footprint {
	struct json *config;
	char hash[FOOTPRINT_HASH];
	unsigned long long *covers; /* sorted, each once */
	size_t n;                   /* 0: coverage unknown */
};

struct footprint_changes {
	const char *cluster_mode; /* "true", "false" or NULL */
	bool skip_config_set, skip_profiling;
};

/* Reads a file and applies the changes to each configuration in it. Returns 0,
 * or -1 after reporting an error. */
int footprint_read(
    struct footprint *, const char *file, const struct footprint_changes *);

/* Makes the footprint of 'config', and takes it. */
void footprint_make(struct footprint *, struct json *config);
void footprint_free(struct footprint *);

/* Returns the coverage as an SQL array of signed numbers, "{1,-2,3}" (caller
 * frees with free()), or NULL if it is unknown. */
char *footprint_print_array(const struct footprint *);

/* Returns whether 'b' covers all that 'a' covers; false if unknown. */
bool footprint_is_within(const struct footprint *a, const struct footprint *b);

#endif
