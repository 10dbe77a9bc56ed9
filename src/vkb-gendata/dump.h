/*
 * A dump of a wiki as the bytes of its XML, in order: plain or compressed. A
 * bzip2 file of many streams, as Wikipedia's "multistream" dumps are, is
 * decompressed by several threads; one of a single stream by one.
 */
#ifndef DUMP_H
#define DUMP_H

#include <stddef.h>
#include <stdint.h>

struct dump;
struct str;

struct dump *dump_open(const char *file, size_t threads); /* NULL, and said */
void dump_close(struct dump *);

/* Adds the next bytes, some millions at most. 1; 0: no more; -1, and said. */
int dump_next(struct dump *, struct str *);

#endif
