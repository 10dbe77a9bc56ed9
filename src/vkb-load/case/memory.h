/*
 * Whether the servers of several builds fit into memory at the same time, and
 * the requests of a load; what a load needs on a server.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

struct bench_case;
struct client;
struct target;
struct engine_job;
struct engine_work;

/*
 * Returns why the largest values of a work, one for each connection and thread,
 * do not fit, or NULL; only for those with 'values'. Caller frees.
 */
char *memory_explain_requests(const struct engine_work *, size_t nodes);

/*
 * Return why n servers with the same data do not fit, with figures, or NULL if
 * they do, or if that is not known. Caller frees.
 */

/*
 * Before the servers start: compares the values of all keys, which are size of
 * a value * keys * n, with the memory that is available.
 */
char *memory_explain_case(const struct bench_case *, size_t n);

/*
 * When the first is filled: compares what the others still need to become like
 * it with the memory that is available.
 */
char *memory_explain_servers(const struct engine_job *, size_t n);

/*
 * Returns about how much memory the servers of a case need for its keys and
 * connections, and those of the cases before it; sets *elements to the number
 * of keys and elements. The server is asked which commands only read.
 */
double memory_need(const struct bench_case *, const struct target *,
    struct client *, double *elements);

#endif
