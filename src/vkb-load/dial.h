/* Sockets to servers, non-blocking, without delay. -1, and errno. */
#ifndef DIAL_H
#define DIAL_H

int dial_unix(const char *path);

/*
 * It may not be connected yet. 'room': of its send buffer, 0: as the system has
 * it. *why is what a name's look-up said, where that failed.
 */
int dial_tcp(const char *host, int port, int room, const char **why);

#endif
