/*
 * Idle connections: a case may ask for so many (idle_clients), which are open
 * while its load runs and send nothing.
 */
#ifndef IDLE_H
#define IDLE_H

struct measure;
struct target;

/*
 * Opens the idle connections of the case, if it has some, to the primaries in
 * turn, and lets each answer a PING. Returns 0; or -1 after reporting an error,
 * or silently if the run is to stop.
 */
int idle_begin(struct measure *, const struct target *);

/*
 * Closes them. If the run went well so far, as 'rc' says, fails it if some of
 * them did not stay open and answer, and else sets the metric idle_clients.
 * Returns 0 or -1.
 */
int idle_end(struct measure *, int rc);

#endif
