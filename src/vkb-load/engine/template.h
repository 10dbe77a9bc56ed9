/*
 * Commands with placeholders: compiles a text and renders requests.
 *
 * The text has words as in a shell; in "..." \xHH is a byte. A word ";" ends a
 * command and another follows; a number before a command is a repeat count. In
 * the words:
 *
 * __rand_int__        a number below keyspacelen, 12 digits, each drawn anew
 * __rand_1st__ ..     a number that is the same for its name in a command:
 * __rand_9th__        1st 2nd 3rd 4th 5th 6th 7th 8th 9th
 * __seq__             0, 1, 2, ... over all clients, 12 digits
 * __data__            data_size bytes
 * __field:NAME__      a field of the next row of the dataset
 * {tag}               in a cluster, the tag of a slot of the server
 *
 * Each command that names fields uses the next row; the first follows the last.
 * In sequential use random numbers count up, as in valkey-benchmark. In a
 * cluster, a random number beside the tag decides the slot, so that the key is
 * found again.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rng.h"

struct command;
struct rowset;
struct keys;
struct template;

#define TEMPLATE_SLACK 64 /* bytes behind the end of a buffer */

/* Returns NULL and *why, which the caller frees, if the text is not valid. */
struct template *template_new(
    const char *text, long long data_size, bool cluster, char **why);
void template_free(struct template *);

/* Returns the fields that it names, in order; NULL ends the list; borrowed. */
const char *const *template_fields(const struct template *);

/*
 * Call before use if it names fields: sets the rows (borrowed). Renders up to
 * 'most' bytes of each command in advance, for speed.
 */
void template_bind(struct template *, const struct rowset *, size_t most);

/*
 * Returns the template as a command: its typical length and, if all are of one
 * length, its constant end. Borrowed.
 */
struct command *template_command(struct template *);

/* Returns the buffer size for commands that begin before 'bytes' are full. */
size_t template_room(const struct template *, size_t bytes);

/*
 * Returns how many rows or sequence numbers n commands use, the first of them
 * being the turn'th.
 */
enum template_kind { TEMPLATE_ROWS, TEMPLATE_SEQ, TEMPLATE_KINDS };
uint64_t template_takes(
    const struct template *, enum template_kind, uint64_t turn, uint64_t n);

/*
 * The source of the next command's numbers; a copy makes the same commands
 * again.
 */
struct cursor {
	struct rng rng;
	bool sequential;
	uint64_t number; /* in sequential use */
	uint64_t next[TEMPLATE_KINDS];
	uint64_t turn; /* commands before it on this connection */
};

/*
 * Makes up to n commands, until 'full' bytes are reached; returns how many and
 * sets *len to their length. A buffer is zeroed before its first use, and used
 * for one template only.
 */
uint32_t template_make(const struct template *, struct cursor *,
    const struct keys *, char *buf, uint32_t n, size_t full, size_t *len);

#endif
