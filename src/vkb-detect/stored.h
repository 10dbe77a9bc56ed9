/*
 * Reads runs of PostgreSQL: runs vkb-pgpush(1) --export, which must succeed,
 * and reads its output.
 */
#ifndef STORED_H
#define STORED_H

struct branch;

/* 'database' NULL: as the environment says; 'table' NULL: core. Returns -1 on
 * error, after reporting it. */
int stored_read(struct branch *, const char *database, const char *table);

#endif
