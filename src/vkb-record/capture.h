/* A network capture, as tcpdump writes it (pcap or pcapng), through libpcap. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>
#include <stdio.h>

struct recorder;

/* May a file that begins with this character be one? */
bool capture_is(int c);

/*
 * Records what clients sent to a port of any host. Takes 'in' and closes it.
 * Returns 0, or -1 after reporting an error, what is missing, or that there is
 * nothing; what was understood is recorded.
 */
int capture_read(struct recorder *, FILE *in, const char *name, unsigned port);

#endif
