/* Reads from replicas ('read_from'). */
#ifndef REPLICAS_H
#define REPLICAS_H

struct engine_job;
struct engine_work;
struct measure;
struct target;

/*
 * Sends those streams of the case to replicas whose commands only read: the
 * server says which commands do. The cost of the replicas then counts, too.
 * Does nothing if the case does not ask for it. Returns 0, or -1 after
 * reporting an error, also if no stream only reads.
 */
int replicas_choose(struct measure *, struct target *);

/*
 * Waits until the replicas have what was written, and the cluster knows all of
 * them, if one of the works, those of the job, reads from them. Returns 0, or
 * -1 after reporting an error, or silently if the job is to stop.
 */
int replicas_wait(const struct engine_job *, const struct engine_work *works);

#endif
