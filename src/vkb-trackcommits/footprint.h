/*
 * What a configuration is, for telling one from another: its whole content as
 * a hash (FNV-1a, 64 bit, of the text with sorted keys), and what it covers as
 * a set of such, one for each combination of what it crosses (commands, sizes,
 * ...) with all else that stands in it.
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
	size_t n;                   /* 0: nothing is known */
};

struct footprint_changes {
	const char *cluster_mode; /* "true", "false" or NULL */
	bool skip_config_set, skip_profiling;
};

/* From a file; 'changes' are made in each configuration. 0, or -1 and said. */
int footprint_read(
    struct footprint *, const char *file, const struct footprint_changes *);
/* Of 'config', which is taken. */
void footprint_of(struct footprint *, struct json *config);
void footprint_free(struct footprint *);

/* "{1,-2,3}", for SQL, which has no unsigned numbers; free(). NULL: unknown. */
char *footprint_array(const struct footprint *);

/* Is all that 'a' covers covered by 'b'? Not where nothing is known. */
bool footprint_within(const struct footprint *a, const struct footprint *b);

#endif
