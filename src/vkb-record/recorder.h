/*
 * Writes the trace of commands that a reader of some format found: numbers the
 * connections, drops the words of commands that will not be sent again, hides
 * keys and values.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include "tracefile.h"

#include <stdbool.h>
#include <stdint.h>

enum recorder_hash { RECORDER_KEYS = 1, RECORDER_VALUES = 2 };

struct recorder;

/*
 * Writes to 'fd'. 'source' is what is read: "monitor" or "capture";
 * borrowed. 'hash' is an OR of enum recorder_hash.
 */
struct recorder *recorder_new(int fd, const char *source, unsigned hash);

/*
 * Returns the number of the connection of that address, which is new if 'fresh'
 * is set or the address was not seen. Returns -1 after reporting an error.
 */
long recorder_find_conn(
    struct recorder *, const char *address, size_t n, bool fresh);

/*
 * Adds a command at 'us' since 1970, or since any time that is the same for
 * all. 'script': a script sent it. Returns 0, or -1 after reporting an error.
 */
int recorder_add(struct recorder *, uint64_t us, long conn, unsigned db,
    bool script, const struct tracefile_word *, size_t n);

/* Sets *db to the database of a SELECT; other commands leave it. */
void recorder_select(const struct tracefile_word *, size_t n, unsigned *db);

/* Makes what was added readable in the file. */
int recorder_flush(struct recorder *);

/* Writes the end, and reports the numbers unless quiet. Frees it. */
int recorder_end(struct recorder *, bool quiet);

#endif
