#include "written.h"
#include "hashset.h"
#include "mem.h"
#include "rng.h"

#include <stdlib.h>
#include <string.h>

#define HASHES UINT64_C(0x7772697474656e) /* stream of random numbers */

struct written *
written_new(size_t most)
{
	struct written *w = mem_new(sizeof *w);

	w->most = most ? most : 1;
	w->limit = UINT64_MAX;
	w->ids = hashset_new();
	return w;
}

static void
free_names(struct written *w)
{
	hashset_free(w->ids);
	free(w->names);
	free(w->bytes);
}

void
written_free(struct written *w)
{
	if (!w)
		return;
	free_names(w);
	free(w);
}

static uint64_t
hash_id(uint64_t id)
{
	struct rng rng;

	rng_seed(&rng, id, HASHES);
	return rng_next(&rng);
}

static void
append_bytes(struct written *w, const char *p, size_t n)
{
	if (w->nbytes + n > w->bytes_cap) {
		w->bytes_cap = 2 * (w->nbytes + n);
		w->bytes = mem_resize(w->bytes, w->bytes_cap, 1);
	}
	memcpy(w->bytes + w->nbytes, p, n);
	w->nbytes += n;
}

/* Leaves out every other name. */
static void
halve_names(struct written *w)
{
	struct written old = *w;

	*w = (struct written){.most = old.most,
	    .limit = old.limit / 2,
	    .added = old.added,
	    .ids = hashset_new()};
	written_merge(w, &old);
	free_names(&old);
}

void
written_add(struct written *w, uint64_t id, const char *key, size_t nkey,
    const char *field, size_t nfield)
{
	if (hash_id(id) > w->limit || hashset_add(w->ids, id))
		return;
	w->names = mem_grow(w->names, w->n, &w->cap, sizeof *w->names);
	w->names[w->n++] = (struct written_name){.id = id,
	    .at = w->nbytes,
	    .nkey = (uint32_t)nkey,
	    .nfield = (uint32_t)nfield,
	    .field = field != NULL,
	    .nth = w->added++};
	append_bytes(w, key, nkey);
	if (field)
		append_bytes(w, field, nfield);
	if (w->n > w->most)
		halve_names(w);
}

bool
written_has(const struct written *w, uint64_t id, uint64_t added)
{
	/* Only the names that were added since then are looked at: they are few
	 * where a server has lost all, and every request asks. */
	for (size_t i = w->n; i && w->names[i - 1].nth >= added; i--)
		if (w->names[i - 1].id == id)
			return false;
	return hashset_has(w->ids, id);
}

void
written_merge(struct written *to, const struct written *from)
{
	const struct written_name *x;
	const char *key;

	if (from->limit < to->limit)
		to->limit = from->limit;
	for (size_t i = 0; i < from->n; i++) {
		x = &from->names[i];
		key = from->bytes + x->at;
		written_add(to, x->id, key, x->nkey,
		    x->field ? key + x->nkey : NULL, x->nfield);
	}
}
