/* Counts the commands that a local server handles, by its INFO stats. */
#ifndef REQUESTS_H
#define REQUESTS_H

struct client;

/* Returns NULL, and reports nothing, if no server answers on the port without a
 * password and TLS. Caller frees with client_close. */
struct client *requests_open(int port);

/* Returns the commands handled since the server's start, without this one; NAN
 * if unknown. */
double requests_handled(struct client *);

#endif
