/*
 * Loads that are verified: a source whose writes hold the contents of their
 * keys (values.h) in place of __data__, and which tells a connection what its
 * reads have to find.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include "engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmdsource;
struct hashset;
struct values;

/*
 * The values that a verified load has written: those whose write was answered
 * without an error. All of them are kept up to a number; of more, a part of the
 * names that is chosen by their hashes, the same in every thread.
 */

#define VERIFY_WRITTEN_MOST                                     \
	1000000 /* names kept of a stream, over all its threads \
		 */

/* A name: nkey bytes of a key, then nfield of a field of the hash there. */
struct verify_name {
	uint64_t id; /* see values_id */
	size_t at;   /* in 'bytes' */
	uint32_t nkey, nfield;
	bool field;   /* the value is stored in a field of a hash */
	uint64_t nth; /* names that were added before it */
};

struct verify_written {
	size_t most;
	uint64_t limit;      /* names whose hash is larger are left out */
	struct hashset *ids; /* of the names */
	struct verify_name *names;
	size_t n, cap;
	uint64_t added; /* names so far */
	bool kept;      /* they stay on the server, see verify_keeps */
	char *bytes;
	size_t nbytes, bytes_cap;
};

/* Keeps at most so many names. Free with verify_written_free. */
struct verify_written *verify_written_new(size_t most);
void verify_written_free(struct verify_written *); /* NULL does nothing */

/* Adds a name, unless it is there; the field is NULL for a key. */
void verify_written_add(struct verify_written *, uint64_t id, const char *key,
    size_t nkey, const char *field, size_t nfield);

/* Was a name there when so many had been added? */
bool verify_written_has(
    const struct verify_written *, uint64_t id, uint64_t added);

/* Adds all names of another one. */
void verify_written_merge(
    struct verify_written *, const struct verify_written *);

/*
 * Verification of replies: what a connection is to read, in the order of its
 * requests, and what of it was not what had been written. Private to the
 * engine, like run.h.
 */

/* What was found by a thread. */
struct verify_checks {
	const struct values *sizes; /* borrowed */
	struct verify_written
	    *written;  /* what was written is added; or NULL; owned */
	bool required; /* a value that is not there is an error */
	bool kept; /* so is one that had been written before it was asked for */
	const struct verify_written
	    *known; /* written before the load; or NULL */
	struct engine_verified found;
};

/* What a connection awaits: a queue of requests, each with the values that it
 * asks for. Zeroed: nothing. */
struct verify_queue {
	char *bytes; /* from 'at' to 'end' */
	size_t at, end, cap;
	size_t last;     /* where the newest request is, if there is any */
	uint32_t passed; /* requests answered by the bytes being read */
	uint32_t values; /* of the oldest request, those that came */
	size_t next;     /* where the next of them is, in the request */
	uint64_t done;   /* bytes of it that came */
	bool excused;    /* the reply to the oldest request is an error */
	const struct verify_written
	    *written;   /* of its thread, or NULL; borrowed */
	uint64_t wrong; /* offset of the first byte that differs, or NONE */
	unsigned char got;
};

void verify_free(struct verify_queue *); /* NULL does nothing */

/*
 * Adds a request, which reads or writes values, and a value that the newest
 * one reads or writes: that of a key, or of a field of the hash at a key. The
 * field is NULL for a key. A write is done if its reply is neither an error nor
 * nil.
 */
void verify_add_request(struct verify_queue *, bool writes);

/* The connection was opened again: nothing is awaited. */
void verify_forget(struct verify_queue *);

/*
 * Of the nth request from now on: bytes of a string in its reply, with 'left'
 * more of that string to come; a nil instead; the reply is an error.
 */
void verify_take(struct verify_checks *, struct verify_queue *, uint32_t nth,
    const char *p, size_t n, uint64_t left);
void verify_miss(struct verify_checks *, struct verify_queue *, uint32_t nth);
void verify_excuse(struct verify_checks *, struct verify_queue *, uint32_t nth);

/* n requests were answered, which are no longer awaited. */
void verify_end(struct verify_checks *, struct verify_queue *, uint32_t n);

/*
 * Returns why a command cannot be verified: the name of a test, with its
 * options, or a template. NULL: it can. Caller frees.
 */
char *verify_explain(
    const char *command, const struct command_options *options);

/* The same for all commands of a work. */
char *verify_explain_work(const struct engine_work *);

/* Do commands of a work remove keys or fields, or let keys expire? */
bool verify_removes(const struct engine_work *);

/* Has engine_seed written all values that a work reads? */
bool verify_is_filled(const struct engine_work *);

/* Returns the work for the source inside: its values are empty. */
struct engine_work verify_inner_work(const struct engine_work *);

/*
 * Returns a source that makes the commands of another one, which it takes, with
 * at most 'values' values in each, or if 0 as many as the work has.
 */
struct cmdsource *verify_open(
    struct cmdsource *inner, const struct engine_work *, unsigned values);

/* Returns the sizes of such a source's values; borrowed. */
const struct values *verify_sizes(const struct cmdsource *);

/* Adds a command, n bytes of RESP, to what a connection awaits. */
void verify_await(struct verify_queue *, const char *command, size_t n);

/*
 * Reads the written values after a verified load, to find writes that were
 * answered and then lost.
 */

/*
 * Reads the values that each of n streams has written and kept , and
 * adds what was found to its result. A value that is not there is an error if
 * verify_keeps said before the load that it stays. Returns 0, or -1 after
 * reporting that a server cannot be read; or silently when *stop is set.
 */
int verify_read_back(const struct engine_target *,
    const struct engine_work *works, size_t n, const volatile int *stop,
    engine_progress_fn *progress, void *arg, struct engine_result *results);

/*
 * Does what works write to the servers stay there? None of them deletes keys or
 * lets them expire, and no server may evict keys. False if one cannot be asked.
 */
bool verify_keeps(
    const struct engine_target *, const struct engine_work *works, size_t n);

#endif
