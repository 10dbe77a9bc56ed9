#include "capture.h"
#include "err.h"
#include "flow.h"
#include "inputs.h"
#include "intern.h"
#include "mem.h"
#include "num.h"

#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

struct capture {
	const char *name;
	unsigned port;
	struct recorder *recorder;
	enum flow_link link;
	struct intern *ids; /* of flows */
	struct flow **flows;
	size_t nflows, cap;
	size_t packets; /* with data for the port */
	struct flow_counts counts;
};

bool
capture_is(int c)
{
	return c == 0xd4 || c == 0xa1 || c == 0x4d || c == 0x0a;
}

static int
find_link(pcap_t *p, struct capture *c)
{
	static const struct {
		int type;
		enum flow_link link;
	} links[] = {{DLT_RAW, FLOW_IP}, {DLT_IPV4, FLOW_IP},
	    {DLT_IPV6, FLOW_IP}, {DLT_NULL, FLOW_LOOPBACK},
	    {DLT_LOOP, FLOW_LOOPBACK}, {DLT_EN10MB, FLOW_ETHERNET},
	    {DLT_LINUX_SLL, FLOW_COOKED}, {DLT_LINUX_SLL2, FLOW_COOKED2}};
	int type = pcap_datalink(p);
	const char *text = pcap_datalink_val_to_name(type);

	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (links[i].type == type) {
			c->link = links[i].link;
			return 0;
		}
	return err_fail("%s: packets of the link type %s, which is not known",
	    c->name, text ? text : "without a name");
}

/* Returns the flow of a segment, which may be new. */
static struct flow *
find_flow(struct capture *c, const struct flow_segment *s)
{
	char from[INET6_ADDRSTRLEN + 2] = "", to[INET6_ADDRSTRLEN] = "";
	bool wide = s->family == AF_INET6;
	char address[sizeof from + 8], id[sizeof address + sizeof to];
	size_t i;

	inet_ntop(s->family, s->from, from, sizeof from);
	inet_ntop(s->family, s->to, to, sizeof to);
	snprintf(address, sizeof address, wide ? "[%s]:%u" : "%s:%u", from,
	    s->from_port);
	snprintf(id, sizeof id, "%s %s", address, to);
	i = intern_id(c->ids, id);
	if (i < c->nflows)
		return c->flows[i];
	*MEM_ADD(c->flows, c->nflows, c->cap) = flow_new(address);
	return c->flows[i];
}

/* Returns 0 or -1. */
static int
take_packet(struct capture *c, const struct pcap_pkthdr *h, const u_char *bytes)
{
	struct flow_segment s = {0};

	if (!flow_parse(&s, c->link, bytes, h->caplen) || s.to_port != c->port)
		return 0;
	c->packets += s.n > 0;
	return flow_add(find_flow(c, &s), &s,
	    (uint64_t)h->ts.tv_sec * 1000000 + (uint64_t)h->ts.tv_usec,
	    c->recorder, &c->counts);
}

static int
take_packets(struct capture *c, pcap_t *p)
{
	struct pcap_pkthdr *h;
	const u_char *bytes;
	int k, rc = 0;

	while (rc == 0 && (k = pcap_next_ex(p, &h, &bytes)) == 1)
		rc = take_packet(c, h, bytes);
	if (rc == 0 && k == PCAP_ERROR)
		rc = err_fail("%s: %s", c->name, pcap_geterr(p));
	return rc;
}

/* Reports what is not in the trace. Returns 0, or -1 if that is something. */
static int
report_losses(const struct capture *c)
{
	const struct flow_counts *n = &c->counts;

	if (!c->packets)
		return err_fail("%s: nothing was sent to port %u: '--port' "
				"says which port the server has",
		    c->name, c->port);
	if (!n->commands)
		return err_fail("%s: no command was sent to port %u: a "
				"connection with TLS cannot be read",
		    c->name, c->port);
	if (n->broken)
		return err_fail("%s: %zu place%s where a client sent no "
				"command; what it sent until the next one is "
				"not in the trace",
		    c->name, n->broken, num_plural((double)n->broken));
	if (n->gaps)
		return err_fail("%s: packets are missing in %zu place%s; what "
				"was sent there is not in the trace (tcpdump "
				"-s 0 -B 65536 loses less)",
		    c->name, n->gaps, num_plural((double)n->gaps));
	if (n->cut)
		return err_fail("%s: truncated: it ends within %zu command%s, "
				"not in the trace",
		    c->name, n->cut, num_plural((double)n->cut));
	return 0;
}

int
capture_read(struct recorder *r, FILE *in, const char *name, unsigned port)
{
	struct capture c = {.name = name, .port = port, .recorder = r};
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_fopen_offline(in, why);
	int rc;

	if (!p) {
		inputs_close(in);
		return err_fail("%s: not a network capture: %s", name, why);
	}
	c.ids = intern_new();
	rc = find_link(p, &c);
	if (rc == 0)
		rc = take_packets(&c, p);
	for (size_t i = 0; i < c.nflows; i++)
		if (flow_end(c.flows[i], r, &c.counts) < 0)
			rc = -1;
	if (rc == 0)
		rc = report_losses(&c);
	free(c.flows);
	intern_free(c.ids);
	pcap_close(p);
	return rc;
}
