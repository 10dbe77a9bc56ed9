/*
 * Shares of a load that several programs make together, mostly on several
 * hosts. Private to the engine but for share_work.
 */
#ifndef SHARE_H
#define SHARE_H

#include "engine.h"

#include <stdint.h>

/*
 * Returns what a part makes of a work: its clients, requests and rate, with
 * random numbers of its own. All parts together make exactly the whole; the
 * work has a client for each at least. 'part' counts from 1.
 */
struct engine_work share_work(
    const struct engine_work *, unsigned part, unsigned parts);

/* Returns where a part begins in what all parts share: whole * (part-1)/parts,
 * or 0 if the work is not shared. */
uint64_t share_begin(const struct engine_work *, uint64_t whole);

/* Returns the number of requests of all parts. */
long long share_requests(const struct engine_work *);

#endif
