/*
 * The same server on both sides of a comparison: what differs between runs that
 * took turns is noise.
 */
#ifndef SAMESERVER_H
#define SAMESERVER_H

#include <stdbool.h>

struct comparison;
struct row;

/*
 * Is it known that a row did not really change? It is if both sides have the
 * same server, by its SHA-256, and the same environment, and took turns: then
 * they share the session, the machine and its drift.
 */
bool sameserver_is_unchanged(const struct comparison *, const struct row *);

#endif
