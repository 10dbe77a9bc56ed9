/*
 * Bytes that only grow, in one piece of memory. Where they are more than a
 * part of what the machine has, or the control group may have, they lie in a
 * file without a name, which the kernel may write out; that file is in $TMPDIR,
 * or /var/tmp.
 */
#ifndef SWAPFILE_H
#define SWAPFILE_H

#include <stddef.h>

struct swapfile;

#define SWAPFILE_SLACK 64 /* bytes behind the end that may be read */

/* 'limit': bytes kept in plain memory; 0: a quarter of that. */
struct swapfile *swapfile_new(size_t limit);
void swapfile_free(struct swapfile *);

/* Room for n more bytes at the end, or NULL and said; the next call moves it.
 */
char *swapfile_room(struct swapfile *, size_t n);
void swapfile_keep(struct swapfile *, size_t n); /* so many of them */
int swapfile_add(struct swapfile *, const void *, size_t n); /* both */

char *swapfile_bytes(struct swapfile *); /* until the next room */
size_t swapfile_size(const struct swapfile *);

#endif
