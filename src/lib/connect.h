/*
 * Sockets to servers. Only connect_resolve blocks.
 */
#ifndef CONNECT_H
#define CONNECT_H

#include <stdbool.h>

struct addrinfo;

/*
 * Looks up the addresses of a server. A 'numeric' host is an address in digits;
 * a name is then an error. The caller frees the result with freeaddrinfo.
 * Returns NULL after an error, with its text in *why (static); errno ENXIO:
 * there is no such name.
 */
struct addrinfo *connect_resolve(
    const char *host, int port, bool numeric, const char **why);

/*
 * Return a non-blocking socket, which may not be connected yet, or -1 with
 * errno. EAGAIN of connect_unix means that too many connections wait for the
 * server to take them. 'send_room' is the size of the send buffer in bytes; 0
 * leaves it to the system.
 */
int connect_unix(const char *path);
int connect_tcp(const struct addrinfo *, int send_room);

#endif
