/* Makes some of the commands that a role will send, one by one. */
#ifndef SAMPLEQUERY_H
#define SAMPLEQUERY_H

#include <stddef.h>

struct engine_work;
struct samplequery;

/*
 * Reads at most 'most' rows of the dataset. Returns NULL after reporting an
 * error.
 */
struct samplequery *samplequery_open(
    const struct engine_work *, const char *prefix, size_t most);
void samplequery_close(struct samplequery *); /* NULL does nothing */

/* Returns the next command in RESP, *n bytes; borrowed until the next call. */
const char *samplequery_next(struct samplequery *, size_t *n);

#endif
