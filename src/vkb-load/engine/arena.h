/*
 * A growing buffer in one piece of memory. When it exceeds its limit, it moves
 * to an unnamed file in $TMPDIR, or /var/tmp, which the kernel may write out.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

struct arena;

#define ARENA_SLACK 64 /* bytes behind the end that may be read */

/*
 * 'limit': bytes kept in plain memory; 0: a quarter of the memory of the
 * machine or of the control group, whichever is less.
 */
struct arena *arena_new(size_t limit);
void arena_free(struct arena *);

/*
 * Returns room for n more bytes at the end, or NULL after reporting an error.
 * The next call may move the buffer.
 */
char *arena_room(struct arena *, size_t n);
void arena_keep(struct arena *, size_t n); /* keeps n bytes of the room */
int arena_add(struct arena *, const void *, size_t n); /* does both; 0 or -1 */

char *arena_bytes(struct arena *); /* valid until the next arena_room */
size_t arena_size(const struct arena *);

#endif
