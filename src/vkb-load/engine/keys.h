/*
 * The key space and its slots in a cluster: key number n has slot n * 10125 mod
 * 16384, so that each connection finds it. Each node has 16 collections
 * (mylist:{tag}) in 16 of its slots; a member's number modulo 16 selects one.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYS_COLLECTIONS 16
#define KEYS_NUMBERS UINT64_C(1000000000000) /* twelve digits */
#define KEYS_SLOTS 16384

struct collection {
	uint16_t slot;
	uint16_t part; /* its members' numbers, modulo KEYS_COLLECTIONS */
};

/* The part of the key space on one node. */
struct keys {
	uint64_t space; /* numbers are below it */
	uint64_t count; /* of the numbers on this node */
	bool cluster;
	const char (*tags)[3];    /* of each slot; borrowed */
	const uint16_t *residues; /* its numbers modulo 16384; borrowed */
	uint32_t nresidues;
	uint32_t nlong;         /* the first ones have one number more */
	uint64_t rounds;        /* numbers per residue */
	const uint16_t *owners; /* the node of each slot; borrowed */
	uint16_t node;          /* this one */
	const struct collection *collections; /* borrowed */
	uint32_t ncollections;
};

/*
 * Returns the number at a position of the node's own order and its residue.
 * Positions are below k->count.
 */
uint64_t keys_number(const struct keys *, uint64_t position, unsigned *residue);

/* Return the slot of a number, and the residue of the numbers of a slot. */
unsigned keys_slot(uint64_t number);
unsigned keys_residue(unsigned slot);

/* Returns the slot of a key of n bytes, by its hash tag if it has one. */
unsigned keys_hash_slot(const char *, size_t n);

/*
 * Sets for each slot a tag that hashes to it (CRC-16, cluster specification).
 */
void keys_fill_tags(char (*tags)[3]);

#endif
