/*
 * Which connection sends a command of a trace: that of its client to the node
 * of its keys. Keeps transactions together. Private to the engine, like run.h.
 */
#ifndef PLACING_H
#define PLACING_H

#include "sendlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct omissions;
struct placing;
struct worker;

/* What a command means for the order of others. */
enum placing_act { PLACING_PLAIN, PLACING_MULTI, PLACING_END, PLACING_ALL };

struct placing_command {
	struct sendlist_item item; /* its bytes are owned */
	enum placing_act act;      /* ALL: each node gets it */
	uint32_t from;             /* the recorded connection */
	uint32_t db;
	long slot; /* of its keys; -1: it has none */
};

struct placing *placing_new(struct worker *, struct omissions *);
void placing_free(struct placing *); /* NULL does nothing */

/* A recorded connection; its numbers are from 0. 'script': it stands for what
 * scripts send. */
void placing_add_origin(struct placing *, bool script);
bool placing_is_script(const struct placing *, uint32_t from);

/* Is it a client of this thread? */
bool placing_is_ours(const struct placing *, uint32_t from);

/* Gives a command to the connection that sends it, now or when a transaction
 * has ended that keeps it back. Takes its bytes. */
void placing_put(struct placing *, const struct placing_command *);

/* No command follows: passes on those that were held back. */
void placing_end(struct placing *);

/* Makes the RESP of a command of 'n' words. */
struct tracefile_word;
void placing_make_item(
    struct sendlist_item *, const struct tracefile_word *, size_t n);

#endif
