/*
 * The key space, and where in a cluster it lies: key number n has slot
 * n * 10125 mod 16384, so that n is found again by any connection; a collection
 * lies on each node in 16 of its slots (mylist:{tag}), a member's number modulo
 * 16 says which.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>
#include <stdint.h>

#define KEYS_COLLECTIONS 16
#define KEYS_NUMBERS UINT64_C(1000000000000) /* twelve digits */
#define KEYS_SLOTS 16384

struct collection {
	uint16_t slot;
	uint16_t part; /* its members' numbers, modulo KEYS_COLLECTIONS */
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

/*
 * The number at a position of the node's own order; *residue of it. Positions
 * are below k->count.
 */
uint64_t keys_number(const struct keys *, uint64_t position, unsigned *residue);

/* The slot of a number, and the residue of the numbers of a slot. */
unsigned keys_slot(uint64_t number);
unsigned keys_residue(unsigned slot);

/* For each slot a tag that is in it, as the cluster specification says. */
void keys_tags(char (*tags)[3]);

#endif
