/* Ports: are they free, which are, and who has one that is not. */
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>

struct str;

/* Can a server bind it on 'host'? errno says why not. */
bool port_free(const char *host, int port);

/*
 * A port that was free just now, or -1 with errno. 'bus': port + 10000 is free
 * too. Below the ports that the kernel gives to clients, so that a client does
 * not take it before the server does.
 */
int port_pick(const char *host, bool bus);

/* "valkey 8.0.1, process 12", as far as it answers; "another program". */
void port_owner(struct str *, const char *host, int port);

#endif
