/*
 * Reads the XML of a wiki dump, plain or compressed. Several threads decompress
 * a bzip2 file of many streams, such as Wikipedia's "multistream" dumps; one
 * thread decompresses a file of one stream.
 */
#ifndef DUMP_H
#define DUMP_H

#include <stddef.h>
#include <stdint.h>

struct dump;
struct str;

/* Returns NULL (error reported). */
struct dump *dump_open(const char *file, size_t threads);
void dump_close(struct dump *);

/* Appends up to 1 GiB. Returns 1, 0 at the end, or -1 (error reported). */
int dump_read_segment(struct dump *, struct str *);

#endif
