/* Finds the end of an RDB, the snapshot before the commands of some AOFs. */
#ifndef RDB_H
#define RDB_H

#include <stdbool.h>

struct bytes;

/* May a file that begins with this character be one? */
bool rdb_is(int c);

/* Passes over an RDB, from its begin. Returns 0, or -1 after reporting an
 * error. */
int rdb_skip(struct bytes *);

#endif
