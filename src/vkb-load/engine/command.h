/*
 * The named tests as templates: the bytes of a command, and the offsets of its
 * key numbers, slot tags and values. Names, keys and values equal those of
 * valkey-benchmark; see the table in command.c.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keys;
struct rng;

/* Which data a command needs before it is measured. */
enum command_needs {
	NEEDS_NOTHING,
	NEEDS_KEYS, /* one for each number of the key space */
	NEEDS_SOME, /* 1000 elements in each collection */
	NEEDS_POPS  /* as many elements as will be popped */
};

struct command_number {
	size_t at;
	bool same; /* equal to the one before, if sequential */
};

struct command {
	char *bytes;
	size_t len;
	struct command_number *numbers;
	size_t nnumbers;
	size_t *tags;
	size_t ntags;
	size_t constant; /* offset after the last patched byte */
	bool keyed;      /* the number decides the slot */
	bool counts;     /* its hits and misses are counted */
	bool zero_miss;
	unsigned items;  /* possible misses per reply */
	unsigned values; /* keys or elements written by one command */
};

const char *const *command_names(void);
bool command_known(const char *name);
bool command_reads(const char *name);
enum command_needs command_needs(const char *name);

/*
 * Returns how many keys or elements of a command of 'words' words can be
 * missing in its reply, which shows by nil, an empty array or, if *zero_miss,
 * by 0; 0: none, or unknown. Named tests are counted in the same way.
 */
unsigned command_items(const char *word, size_t words, bool *zero_miss);

/*
 * Returns the words of a known test, for a program that replaces __rand_int__
 * by a number, __data__ by the value and in a cluster {tag} by a slot. Caller
 * frees.
 */
char *command_text(const char *name, bool cluster);
char *command_value(size_t n); /* of n bytes; caller frees */

/*
 * Return the template of a test, and of the command that fills the server for
 * it, with up to 'many' elements in each command where possible. Each key
 * begins with 'prefix', or is as in valkey-benchmark if NULL. The caller frees
 * it with command_free.
 */
struct command *command_new(
    const char *name, long long data_size, bool cluster, const char *prefix);
struct command *command_seed(const char *name, long long data_size,
    bool cluster, const char *prefix, unsigned many);
void command_free(struct command *);

/* Writes n commands to buf, n * len bytes; then command_fill patches them. */
void command_copy(const struct command *, char *buf, size_t n);

/*
 * Patches new numbers and tags into n commands: random ones, or if 'sequence'
 * is not NULL those from *sequence on, which is advanced. *turn selects the
 * collection and is advanced.
 */
void command_fill(const struct command *, char *buf, size_t n,
    const struct keys *, struct rng *, uint64_t *sequence, uint64_t *turn);

/* Patches one command so that its key is in that slot. */
void command_fill_slot(const struct command *, char *buf, unsigned slot,
    const struct keys *, struct rng *);

/* Returns true if the key of the command in buf has the tag of that slot. */
bool command_in_slot(const struct command *, const char *buf,
    const struct keys *, unsigned slot);

#endif
