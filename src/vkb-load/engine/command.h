/*
 * The named tests as templates: the bytes of a command, and where in them the
 * key numbers, slot tags and values stand. Names, keys and values equal those
 * of valkey-benchmark; see command.c for the table.
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
	bool same; /* as the one before, in sequence */
};

struct command {
	char *bytes;
	size_t len;
	struct command_number *numbers;
	size_t nnumbers;
	size_t *tags;
	size_t ntags;
	size_t constant; /* where the bytes begin that are never patched */
	bool keyed;      /* the number says the slot */
	bool counts;     /* hits and misses */
	bool zero_miss;
	unsigned items;  /* misses are possible per reply */
	unsigned values; /* keys or elements written by one command */
};

const char *const *command_names(void);
bool command_known(const char *name);
bool command_reads(const char *name);
enum command_needs command_needs(const char *name);

/*
 * Of a command of so many words the keys or elements whose lack its reply
 * shows, by nil, an empty array or, where *zero_miss, 0; as a named test counts
 * them. 0: none, or not known.
 */
unsigned command_items(const char *word, size_t words, bool *zero_miss);

/*
 * The words of a known test, for a program that takes __rand_int__ for a
 * number,
 * __data__ for the value and in a cluster {tag} for a slot. Caller frees.
 */
char *command_text(const char *name, bool cluster);
char *command_value(size_t n); /* of n bytes; caller frees */

/*
 * The template of a test, or of what fills the server for it ('seeding'; with
 * up to 'many' elements in each command where the command allows that). Each
 * key begins with 'prefix', or is as valkey-benchmark has it where that is
 * NULL. Free with command_free.
 */
struct command *command_new(
    const char *name, long long data_size, bool cluster, const char *prefix);
struct command *command_seed(const char *name, long long data_size,
    bool cluster, const char *prefix, unsigned many);
void command_free(struct command *);

/* Writes n commands to buf, n * len bytes; then command_fill patches them. */
void command_copy(const struct command *, char *buf, size_t n);

/*
 * New numbers and tags in n commands. Random ones, or where 'sequence' is not
 * NULL those from *sequence on, which is moved on. *turn chooses among the
 * collections.
 */
void command_fill(const struct command *, char *buf, size_t n,
    const struct keys *, struct rng *, uint64_t *sequence, uint64_t *turn);

/* One command whose key is in that slot, otherwise as command_fill has it. */
void command_fill_slot(const struct command *, char *buf, unsigned slot,
    const struct keys *, struct rng *);

/* Whether the key of the command in buf has the tag of that slot. */
bool command_in_slot(const struct command *, const char *buf,
    const struct keys *, unsigned slot);

#endif
