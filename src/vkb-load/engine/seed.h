/* Data for commands that pop: how much, and whether it is refilled. */
#ifndef SEED_H
#define SEED_H

#include <stdbool.h>
#include <stdint.h>

struct engine_target;
struct engine_work;

bool seed_refills(const struct engine_target *, const struct engine_work *);
unsigned seed_many(const struct engine_work *); /* elements per command */

#endif
