/*
 * The same server on both sides of a comparison: what differs between runs that
 * took turns is noise.
 */
#ifndef SAMESERVER_H
#define SAMESERVER_H

struct comparison;

/*
 * If both sides have the same server, by its SHA-256, and the same environment,
 * finds the rows that are known to be unchanged, and makes those of them
 * equivalent that the tests called otherwise.
 */
void sameserver_decide(struct comparison *);

#endif
