#include "keys.h"
#include "err.h"

#include <stddef.h>
#include <string.h>

#define FACTOR 10125   /* from numbers to slots */
#define INVERSE 13125u /* of FACTOR, modulo KEYS_SLOTS */

uint64_t
keys_number(const struct keys *k, uint64_t position, unsigned *residue)
{
	uint64_t whole = k->nresidues * k->rounds, round;
	uint32_t i;

	if (position < whole) {
		i = (uint32_t)(position % k->nresidues);
		round = position / k->nresidues;
	} else {
		i = (uint32_t)(position - whole);
		round = k->rounds;
	}
	*residue = k->residues[i];
	return *residue + KEYS_SLOTS * round;
}

unsigned
keys_slot(uint64_t number)
{
	return (unsigned)(number * FACTOR % KEYS_SLOTS);
}

unsigned
keys_residue(unsigned slot)
{
	return slot * INVERSE % KEYS_SLOTS;
}

/* as in the cluster specification */
static unsigned
compute_crc16(const char *s, size_t n)
{
	unsigned crc = 0, x;

	for (; n; n--, s++) { /* the sum of eight steps, without a table */
		x = (crc >> 8 ^ (unsigned char)*s) & 0xff;
		x ^= x >> 4;
		crc = (crc << 8 ^ x << 12 ^ x << 5 ^ x) & 0xffff;
	}
	return crc;
}

unsigned
keys_hash_slot(const char *s, size_t n)
{
	const char *open = memchr(s, '{', n), *close = NULL;

	if (open)
		close = memchr(open + 1, '}', n - (size_t)(open - s) - 1);
	if (!close || close == open + 1)
		return compute_crc16(s, n) % KEYS_SLOTS;
	return compute_crc16(open + 1, (size_t)(close - open - 1)) % KEYS_SLOTS;
}

void
keys_fill_tags(char (*tags)[3])
{
	static const char letters[] =
	    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t i, j, k, left = KEYS_SLOTS;
	unsigned slot;
	char t[3];

	memset(tags, 0, KEYS_SLOTS * sizeof *tags);
	for (i = 0; letters[i] && left; i++)
		for (j = 0; letters[j]; j++)
			for (k = 0; letters[k]; k++) {
				t[0] = letters[i];
				t[1] = letters[j];
				t[2] = letters[k];
				slot = compute_crc16(t, 3) % KEYS_SLOTS;
				if (tags[slot][0])
					continue;
				memcpy(tags[slot], t, 3);
				left--;
			}
	if (left)
		err_die("some slots have no tag of three letters");
}
