/* Finds free TCP ports, and the owner of a port that is taken. */
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>

struct str;

/* Returns whether a server can bind the port on 'host'; if not, sets errno. */
bool port_is_free(const char *host, int port);

/*
 * Returns a random port that is free now, or -1 with errno set. With 'bus',
 * port + 10000 is free too. The port is below the range that the kernel gives
 * to clients, so that no client takes it before the server starts.
 */
int port_choose(const char *host, bool bus);

/* Appends "valkey 8.0.1, process 12", or "another program". */
void port_describe_owner(struct str *, const char *host, int port);

#endif
