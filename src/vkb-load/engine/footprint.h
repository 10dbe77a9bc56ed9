/*
 * An estimate of the memory that a server needs for a load, before anything is
 * sent: rather too much than too little. Bytes; of a cluster, of all nodes.
 */
#ifndef FOOTPRINT_H
#define FOOTPRINT_H

#include <stddef.h>

struct engine_target;
struct engine_work;

#define FOOTPRINT_CONNECTION 36864 /* buffers for a query and a reply */

/* Returns what the keys and elements of one command take, given as text. */
double footprint_text(const char *text, double data_size);

/*
 * Returns what a named command of a work takes, with the keys that fill the
 * server for it; or a command of its own, if 'text' is not NULL. *elements is
 * increased by how many keys and elements are written: INFINITY if it adds to
 * lists or streams for a duration; then these bytes are not included.
 */
double footprint_command(const struct engine_target *,
    const struct engine_work *, const char *command, const char *text,
    double *elements);

/* Returns what the connections of a work take, those that fill included. */
double footprint_connections(const struct engine_work *, size_t nodes);

#endif
