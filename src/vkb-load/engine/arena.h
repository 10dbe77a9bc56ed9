/*
 * Bytes that only grow, in one piece of memory. Where they are more than a
 * part of what the machine has, or the control group may have, they lie in a
 * file without a name, which the kernel may write out; that file is in $TMPDIR,
 * or /var/tmp.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

struct arena;

#define ARENA_SLACK 64 /* bytes behind the end that may be read */

/* 'limit': bytes kept in plain memory; 0: a quarter of that. */
struct arena *arena_new(size_t limit);
void arena_free(struct arena *);

/* Room for n more bytes at the end, or NULL and said; the next call moves it.
 */
char *arena_room(struct arena *, size_t n);
void arena_keep(struct arena *, size_t n);             /* so many of them */
int arena_add(struct arena *, const void *, size_t n); /* both */

char *arena_bytes(struct arena *); /* until the next room */
size_t arena_size(const struct arena *);

#endif
