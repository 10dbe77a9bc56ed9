/*
 * Commands with placeholders: the bytes of the requests that a text stands for.
 *
 * The text is in words as a shell has them; in "..." \xHH is a byte. A word
 * ";" ends a command and another follows; a number before a command says how
 * often it is sent in its turn. In the words:
 *
 *	__rand_int__        a number below keyspacelen, 12 digits, each its own
 *	__rand_1st__ ..     the same one wherever its name stands in a command;
 *	__rand_9th__        1st 2nd 3rd 4th 5th 6th 7th 8th 9th
 *	__seq__             0, 1, 2, ... over all clients, 12 digits
 *	__data__            data_size bytes
 *	__field:NAME__      a field of the next row of the dataset
 *	{tag}               in a cluster, the tag of a slot of the server
 *
 * Each command that names fields takes the next row; after the last one comes
 * the first. In sequential use random numbers count up, as in
 * valkey-benchmark. In a cluster a random number says the slot where there is
 * one beside the tag, so that it is found again.
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

/* NULL, and *why, which the caller frees. */
struct template *template_new(
    const char *text, long long data_size, bool cluster, char **why);
void template_free(struct template *);

/* The fields it names, in order; NULL ends the list; borrowed. */
const char *const *template_fields(const struct template *);

/*
 * Before it is used: the rows, borrowed. NULL where it names no fields. Up to
 * 'most' bytes of each of its commands are written beforehand, for speed.
 */
void template_bind(struct template *, const struct rowset *, size_t most);

/*
 * A command as the engine's parts want to see one: a typical length, and where
 * all are alike the end that is never changed. Borrowed.
 */
struct command *template_command(struct template *);

/* Room for commands that begin before 'bytes' are full. */
size_t template_room(const struct template *, size_t bytes);

/* What n commands, of which the first is the turn'th, take of a kind. */
enum template_kind { TEMPLATE_ROWS, TEMPLATE_SEQ, TEMPLATE_KINDS };
uint64_t template_takes(
    const struct template *, enum template_kind, uint64_t turn, uint64_t n);

/* Where the next command gets its numbers; a copy makes the same again. */
struct course {
	struct rng rng;
	bool sequential;
	uint64_t number; /* in sequential use */
	uint64_t next[TEMPLATE_KINDS];
	uint64_t turn; /* commands before it; the connection's own */
};

/*
 * Makes up to n commands, until 'full' bytes are reached; how many. *len is
 * what they are long. A buffer is filled with zeros before its first use, and
 * used for one template.
 */
uint32_t template_make(const struct template *, struct course *,
    const struct keys *, char *buf, uint32_t n, size_t full, size_t *len);

#endif
