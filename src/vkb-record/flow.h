/*
 * What a client sends over a connection, put together from TCP segments that
 * may come twice, in another order, or not at all, and cut into commands.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

struct flow;
struct flow_segment;
struct recorder;

/* Of all flows. */
struct flow_counts {
	size_t commands;
	size_t gaps;   /* places where segments are missing */
	size_t broken; /* what is not a command */
	size_t cut;    /* commands of which the end is not there */
};

/* 'address' is that of the client, for the trace. */
struct flow *flow_new(const char *address);
/*
 * Takes a segment and records the commands that are complete with it, with its
 * time. Where segments are missing, or the connection began before, it
 * continues with the next segment that begins with a command. Returns 0, or -1
 * after reporting an error of the recorder.
 */
int flow_add(struct flow *, const struct flow_segment *, uint64_t us,
    struct recorder *, struct flow_counts *);

/* Frees the flow, after it has taken what waited for segments that did not
 * come. Returns as flow_add. */
int flow_end(struct flow *, struct recorder *, struct flow_counts *);

/* What comes before the IP header. */
enum flow_link {
	FLOW_IP,       /* nothing */
	FLOW_LOOPBACK, /* the family of the address, 4 bytes */
	FLOW_ETHERNET,
	FLOW_COOKED, /* Linux, interface 'any' */
	FLOW_COOKED2 /* the same, version 2 */
};

struct flow_segment {
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
bool flow_parse(struct flow_segment *, enum flow_link,
    const unsigned char *bytes, size_t n);

#endif
