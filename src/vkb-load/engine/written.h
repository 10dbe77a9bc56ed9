/*
 * The values that a verified load has written: those whose write was answered
 * without an error. All of them are kept up to a number; of more, a part of the
 * names that is chosen by their hashes, the same in every thread.
 */
#ifndef WRITTEN_H
#define WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashset;

#define WRITTEN_MOST                                            \
	1000000 /* names kept of a stream, over all its threads \
		 */

/* A name: nkey bytes of a key, then nfield of a field of the hash there. */
struct written_name {
	uint64_t id; /* see contents_id */
	size_t at;   /* in 'bytes' */
	uint32_t nkey, nfield;
	bool field;   /* the value is stored in a field of a hash */
	uint64_t nth; /* names that were added before it */
};

struct written {
	size_t most;
	uint64_t limit;      /* names whose hash is larger are left out */
	struct hashset *ids; /* of the names */
	struct written_name *names;
	size_t n, cap;
	uint64_t added; /* names so far */
	bool kept;      /* they stay on the server, see readback_keeps */
	char *bytes;
	size_t nbytes, bytes_cap;
};

/* Keeps at most so many names. Free with written_free. */
struct written *written_new(size_t most);
void written_free(struct written *); /* NULL does nothing */

/* Adds a name, unless it is there; the field is NULL for a key. */
void written_add(struct written *, uint64_t id, const char *key, size_t nkey,
    const char *field, size_t nfield);

/* Was a name there when so many had been added? */
bool written_has(const struct written *, uint64_t id, uint64_t added);

/* Adds all names of another one. */
void written_merge(struct written *, const struct written *);

#endif
