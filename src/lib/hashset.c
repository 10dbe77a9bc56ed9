#include "hashset.h"
#include "mem.h"

#include <stddef.h>
#include <stdlib.h>

struct hashset {
	unsigned long long *slots; /* open addressing; 0 is empty */
	size_t n, size;
};

struct hashset *
hashset_new(void)
{
	return mem_new(sizeof(struct hashset));
}

void
hashset_free(struct hashset *s)
{
	if (!s)
		return;
	free(s->slots);
	free(s);
}

/* Returns the slot of 'hash', or the empty slot where it belongs. */
static unsigned long long *
find_hash_slot(const struct hashset *s, unsigned long long hash)
{
	size_t at = (hash ^ hash >> 32) & (s->size - 1);

	while (s->slots[at] && s->slots[at] != hash)
		at = (at + 1) & (s->size - 1);
	return &s->slots[at];
}

static void
grow_slots(struct hashset *s)
{
	struct hashset to = {.n = s->n, .size = s->size ? 2 * s->size : 64};

	to.slots = mem_array(to.size, sizeof *to.slots);
	for (size_t i = 0; i < s->size; i++)
		if (s->slots[i])
			*find_hash_slot(&to, s->slots[i]) = s->slots[i];
	free(s->slots);
	*s = to;
}

bool
hashset_add(struct hashset *s, unsigned long long hash)
{
	unsigned long long *to;

	hash += !hash; /* 0 marks an empty slot, so it counts as 1 */
	if (2 * (s->n + 1) > s->size)
		grow_slots(s);
	to = find_hash_slot(s, hash);
	if (*to)
		return true;
	*to = hash;
	s->n++;
	return false;
}

bool
hashset_has(const struct hashset *s, unsigned long long hash)
{
	hash += !hash;
	return s->size && *find_hash_slot(s, hash);
}
