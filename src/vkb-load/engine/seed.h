/* How much data a popping command needs, and whether it is topped up. */
#ifndef SEED_H
#define SEED_H

#include <stdbool.h>
#include <stdint.h>

struct engine_target;
struct engine_work;

bool seed_refills(const struct engine_target *, const struct engine_work *);
unsigned seed_many(const struct engine_work *); /* elements per command */

#endif
