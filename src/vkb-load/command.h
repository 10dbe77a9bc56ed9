/*
 * The named tests as templates: the bytes of a command, and where in them the
 * key numbers, slot tags and values stand. Names, keys and values equal those
 * of valkey-benchmark; see command.c for the table.
 *
 * In a cluster key number n has slot n * 10125 mod 16384, so that n is found
 * again by any connection; a collection lies on each node in 16 of its slots
 * (mylist:{tag}), a member's number modulo 16 says which.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMAND_COLLECTIONS 16
#define COMMAND_NUMBERS UINT64_C(1000000000000) /* twelve digits */
#define COMMAND_SLOTS 16384

struct rng;

/* Which data a command needs before it is measured. */
enum command_needs {
	NEEDS_NOTHING,
	NEEDS_KEYS, /* one for each number of the key space */
	NEEDS_SOME, /* 1000 elements in each collection */
	NEEDS_POPS  /* as many elements as will be popped */
};

struct collection {
	uint16_t slot;
	uint16_t part; /* its members' numbers, modulo COMMAND_COLLECTIONS */
};

/* What one node holds of the key space. */
struct keys {
	uint64_t space; /* numbers are below it */
	uint64_t count; /* of the numbers on this node */
	bool cluster;
	const char (*tags)[3];    /* of each slot; borrowed */
	const uint16_t *residues; /* modulo 16384, of its numbers; borrowed */
	uint32_t nresidues;
	uint32_t nlong;  /* the first ones, with one number more */
	uint64_t rounds; /* numbers per residue */
	const struct collection *collections; /* borrowed */
	uint32_t ncollections;
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
 * The words of a known test, for a program that takes __rand_int__ for a
 * number,
 * __data__ for the value and in a cluster {tag} for a slot. Caller frees.
 */
char *command_text(const char *name, bool cluster);
char *command_value(size_t n); /* of n bytes; caller frees */

/*
 * The template of a test, or of what fills the server for it ('seeding'; with
 * up to 'many' elements in each command where the command allows that). Free
 * with command_free.
 */
struct command *command_new(
    const char *name, long long data_size, bool cluster);
struct command *command_seed(
    const char *name, long long data_size, bool cluster, unsigned many);
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

/*
 * The number at a position of the node's own order; *residue of it. Positions
 * are below k->count.
 */
uint64_t command_number(
    const struct keys *, uint64_t position, unsigned *residue);

/* The slot of a key, as the cluster specification says; 'tags' for each. */
unsigned command_slot(uint64_t number);
void command_tags(char (*tags)[3]);

#endif
