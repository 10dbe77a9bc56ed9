/* The TCP segment in a packet of a network capture. */
#ifndef PACKET_H
#define PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What comes before the IP header. */
enum packet_link {
	PACKET_IP,       /* nothing */
	PACKET_LOOPBACK, /* the family of the address, 4 bytes */
	PACKET_ETHERNET,
	PACKET_COOKED, /* Linux, interface 'any' */
	PACKET_COOKED2 /* the same, version 2 */
};

struct packet_segment {
	int family; /* AF_INET or AF_INET6 */
	const unsigned char *from, *to;
	unsigned from_port, to_port;
	uint32_t seq;
	bool begins; /* the connection */
	const char *data;
	size_t n, missing; /* bytes at hand; those of it that are not */
};

/*
 * Parses a packet of which 'n' bytes were captured. Pointers go into them.
 * Returns false if there is no TCP segment in it, or not its whole header, or
 * it is a fragment.
 */
bool packet_parse(struct packet_segment *, enum packet_link,
    const unsigned char *bytes, size_t n);

#endif
