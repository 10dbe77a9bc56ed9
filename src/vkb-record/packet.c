#include "packet.h"

#include <sys/socket.h>

#define TCP 6

/* What is left of a packet. */
struct rest {
	const unsigned char *p;
	size_t n;       /* captured */
	size_t missing; /* bytes behind these, which were not captured */
};

static unsigned
read_u16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static uint32_t
read_u32(const unsigned char *p)
{
	return (uint32_t)read_u16(p) << 16 | read_u16(p + 2);
}

static bool
skip_bytes(struct rest *r, size_t n)
{
	if (r->n < n)
		return false;
	r->p += n;
	r->n -= n;
	return true;
}

/* Leaves 'whole' bytes: what is behind them is padding. 0: all. */
static void
cut_rest(struct rest *r, size_t whole)
{
	if (!whole)
		return;
	r->missing = whole > r->n ? whole - r->n : 0;
	r->n = whole < r->n ? whole : r->n;
}

static bool
skip_ethernet(struct rest *r)
{
	unsigned type;

	if (!skip_bytes(r, 14))
		return false;
	type = read_u16(r->p - 2);
	while (type == 0x8100 || type == 0x88a8) { /* VLANs */
		if (!skip_bytes(r, 4))
			return false;
		type = read_u16(r->p - 2);
	}
	return type == 0x0800 || type == 0x86dd;
}

static bool
skip_link(struct rest *r, enum packet_link link)
{
	static const size_t sizes[] = {
	    [PACKET_LOOPBACK] = 4, [PACKET_COOKED] = 16, [PACKET_COOKED2] = 20};

	if (link == PACKET_ETHERNET)
		return skip_ethernet(r);
	return skip_bytes(r, link == PACKET_IP ? 0 : sizes[link]);
}

static bool
parse_ipv4(struct rest *r, struct packet_segment *s)
{
	const unsigned char *p = r->p;
	size_t head = (size_t)(*p & 15) * 4, whole;

	if (r->n < 20 || head < 20 || p[9] != TCP || read_u16(p + 6) & 0x3fff)
		return false;
	whole = read_u16(p + 2); /* 0: the kernel had not split it yet */
	if (whole && whole < head)
		return false;
	s->family = AF_INET;
	s->from = p + 12;
	s->to = p + 16;
	cut_rest(r, whole);
	return skip_bytes(r, head);
}

/* Passes over hop-by-hop options, routing and destination options. */
static bool
parse_ipv6(struct rest *r, struct packet_segment *s)
{
	const unsigned char *p = r->p;
	unsigned next;

	if (r->n < 40)
		return false;
	next = p[6];
	s->family = AF_INET6;
	s->from = p + 8;
	s->to = p + 24;
	cut_rest(r, read_u16(p + 4) ? 40 + read_u16(p + 4) : 0);
	skip_bytes(r, 40);
	while (next == 0 || next == 43 || next == 60) {
		if (r->n < 8)
			return false;
		next = r->p[0];
		if (!skip_bytes(r, ((size_t)r->p[1] + 1) * 8))
			return false;
	}
	return next == TCP;
}

bool
packet_parse(struct packet_segment *s, enum packet_link link,
    const unsigned char *bytes, size_t n)
{
	struct rest r = {bytes, n, 0};
	const unsigned char *p;
	size_t head;

	if (!skip_link(&r, link) || !r.n)
		return false;
	if (*r.p >> 4 == 4 ? !parse_ipv4(&r, s)
			   : *r.p >> 4 != 6 || !parse_ipv6(&r, s))
		return false;
	p = r.p;
	if (r.n < 20)
		return false;
	head = (size_t)(p[12] >> 4) * 4;
	if (head < 20 || !skip_bytes(&r, head))
		return false;
	s->from_port = read_u16(p);
	s->to_port = read_u16(p + 2);
	s->seq = read_u32(p + 4);
	s->begins = p[13] & 2;
	s->data = (const char *)r.p;
	s->n = r.n;
	s->missing = r.missing;
	return true;
}
