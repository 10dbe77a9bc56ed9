/* Some of the commands that a role will send, to be tried one by one. */
#ifndef SAMPLEQUERY_H
#define SAMPLEQUERY_H

#include <stddef.h>

struct engine_work;
struct samplequery;

/* At most so many rows of its dataset are read. NULL, and said. */
struct samplequery *samplequery_open(
    const struct engine_work *, const char *prefix, size_t most);
void samplequery_close(struct samplequery *); /* NULL does nothing */

/* The next one as RESP, *n bytes; borrowed until the one after. */
const char *samplequery_next(struct samplequery *, size_t *n);

#endif
