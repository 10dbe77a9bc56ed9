/*
 * Loads that are verified: a source whose writes hold the contents of their
 * keys (contents.h) in place of __data__, and which tells a connection what its
 * reads have to find (checks.h).
 */
#ifndef VERIFY_H
#define VERIFY_H

#include <stdbool.h>
#include <stddef.h>

struct checks_queue;
struct cmdsource;
struct values;
struct engine_work;

/*
 * Returns why a command cannot be verified: the name of a test, or a template.
 * NULL: it can. Caller frees.
 */
char *verify_explain(const char *command);

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
void verify_await(struct checks_queue *, const char *command, size_t n);

#endif
