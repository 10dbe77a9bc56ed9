/*
 * vkb-record: turns what clients sent to a server (MONITOR or a network
 * capture) into a trace, which vkb-load replays; stdout.
 */
#include "address.h"
#include "client.h"
#include "cmdargs.h"
#include "err.h"
#include "inputs.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "sink.h"
#include "table.h"
#include "tls.h"
#include "tracefile.h"
#include "vkb-record/flow.h"
#include "vkb-record/monitor.h"
#include "vkb-record/recorder.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A network capture, as tcpdump writes it (pcap or pcapng), through libpcap. */

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

/* May a file that begins with this character be one? */
static bool
is_capture(int c)
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

/*
 * Records what clients sent to a port of any host. Takes 'in' and closes it.
 * Returns 0, or -1 after reporting an error, what is missing, or that there is
 * nothing; what was understood is recorded.
 */
static int
read_capture(struct recorder *r, FILE *in, const char *name, unsigned port)
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

#define CONNECT_MS 10000

struct opts {
	struct address at;
	const char *hash;
	double duration;
	bool quiet, show, monitor;
};

#define AT(field) offsetof(struct opts, field)

static const struct opt option_table[] = {
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "do not print the summary"},
    {0, "duration", OPT_DURATION, AT(duration), "TIME", .min = .001, .max = 1e7,
	.help = "record a server for TIME; default until a signal"},
    {0, "hash", OPT_CHOICE, AT(hash), "WHAT", .choices = "keys|values|all",
	.help = "replace keys, values or both, keep their lengths"},
    {0, "show", OPT_FLAG, AT(show), .help = "print what is in a trace"},
    {0, "monitor", OPT_FLAG, AT(monitor),
	.help = "print the commands of a trace as MONITOR does"},
    {'h', "host", OPT_STR, AT(at.host), "HOST",
	.help = "record the server on HOST; default 127.0.0.1"},
    {'p', "port", OPT_INT, AT(at.port), "PORT", .min = 1, .max = 65535,
	.help = "port of the server, or in a capture; default 6379"},
    {'s', "unixsocket", OPT_STR, AT(at.unixsocket), "PATH",
	.help = "record the server on this unix socket"},
    {0, "user", OPT_STR, AT(at.user), "NAME",
	.help = "log in as NAME, with VKB_PASSWORD"},
    {0, "tls", OPT_FLAG, AT(at.tls), .help = "connect with TLS"},
    {0, "cacert", OPT_STR, AT(at.cacert), "FILE",
	.help = "trust the certificate authorities in FILE"},
    {0, "cert", OPT_STR, AT(at.cert), "FILE",
	.help = "send this client certificate"},
    {0, "key", OPT_STR, AT(at.key), "FILE",
	.help = "use this private key of the certificate"},
    {0}};

static const struct opt_prog program = {.name = "vkb-record",
    .operands = "[FILE]",
    .purpose = "Records the commands that a server gets, for vkb-load "
	       "--replay.",
    .table = option_table};

/* --- shows a trace */

#define KINDS_MOST 1000 /* that are listed apart */

struct kind {
	uint64_t count, bytes;
	char name[CMDARGS_NAME];
	const char *why; /* it is not sent again; or NULL */
};

struct summary {
	struct intern *names;
	struct kind *kinds;
	size_t n, cap;
	uint64_t commands, conns, bytes, omitted, last_us;
	unsigned databases; /* the highest one, plus 1 */
};

static const char *
explain_omission(const struct tracefile_command *c)
{
	const char *why;

	if (c->omitted && c->n == 1 && cmdargs_is(&c->words[0], "SCRIPT"))
		return "a script sent it";
	why = cmdargs_refuse(c->words, c->n);
	return why || !c->omitted ? why : "it was not hashed";
}

static void
count_command(struct summary *s, const struct tracefile_command *c)
{
	char name[CMDARGS_NAME], id[CMDARGS_NAME + 2];
	const char *why = explain_omission(c);
	struct kind *k;
	size_t i, known;

	cmdargs_name(c->words, c->n, name);
	snprintf(id, sizeof id, "%d%s", why != NULL, name);
	known = intern_count(s->names);
	if (known >= KINDS_MOST &&
	    intern_find(s->names, id, strlen(id)) == known)
		snprintf(id, sizeof id, "%d", why != NULL);
	i = intern_id(s->names, id);
	while (s->n <= i) {
		s->kinds = mem_grow(s->kinds, s->n, &s->cap, sizeof *s->kinds);
		s->kinds[s->n] = (struct kind){
		    .why = why && !id[1] ? "for different reasons" : why};
		snprintf(s->kinds[s->n++].name, CMDARGS_NAME, "%s",
		    id[1] ? name : "others");
	}
	k = &s->kinds[i];
	k->count++;
	for (i = 0; i < c->n; i++)
		k->bytes += c->words[i].n;
	s->commands++;
	s->omitted += why != NULL;
	s->last_us = c->at_us;
	if (c->db >= s->databases)
		s->databases = c->db + 1;
}

static int
compare_kinds(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
add_kinds(struct str *s, const struct summary *x)
{
	struct table *t = table_new();

	table_titles(t, "command|>count|>bytes each|not sent again");
	for (size_t i = 0; i < x->n; i++) {
		const struct kind *k = &x->kinds[i];

		table_cell(t, k->name);
		table_take(t, mem_printf("%" PRIu64, k->count));
		table_take(
		    t, mem_printf("%.0f", (double)k->bytes / (double)k->count));
		table_cell(t, k->why ? k->why : "");
	}
	table_print(t, s, false);
	table_free(t);
}

static void
add_numbers(struct str *s, const struct json *head, const struct summary *x)
{
	const char *source = json_get_str(head, "source");
	const char *hash = json_get_str(head, "hash");
	const char *started = json_get_str(head, "started");
	char n[NUM_BUF];

	str_add(s, "source       ");
	str_visible(s, source ? source : "unknown");
	str_add(s, "\nstarted      ");
	str_visible(s, started ? started : "unknown");
	str_add(s, "\nhashed       ");
	str_visible(s, hash ? hash : "unknown");
	str_printf(s, "\nduration     %.6f s\n", (double)x->last_us / 1e6);
	str_printf(s, "connections  %" PRIu64 "\n", x->conns);
	str_printf(s, "databases    %u\n", x->databases);
	str_printf(s, "bytes        %s\n", num_human(n, (double)x->bytes));
	str_printf(s,
	    "commands     %" PRIu64 ", of which %" PRIu64
	    " are not sent again\n\n",
	    x->commands, x->omitted);
}

/* Reads a trace to its end. Returns 0 or -1. */
static int
read_summary(struct tracefile *t, struct summary *s)
{
	struct tracefile_command c;
	const char *address;
	int rc;

	while ((rc = tracefile_next(t, &c, &address)) > 0) {
		if (address) {
			s->conns++;
			continue;
		}
		for (size_t i = 0; i < c.n; i++)
			s->bytes += c.words[i].n;
		count_command(s, &c);
	}
	return rc < 0 ? err_fail("%s", tracefile_error(t)) : 0;
}

static struct tracefile *
open_trace(const char *path)
{
	char *why = NULL;
	struct tracefile *t = tracefile_open(path, &why);

	if (!t)
		err_say("%s", why);
	free(why);
	return t;
}

static int
show_summary(const char *path)
{
	struct tracefile *t = open_trace(path);
	struct summary s = {0};
	struct sink out = {.fd = STDOUT_FILENO};
	int rc;

	if (!t)
		return -1;
	s.names = intern_new();
	rc = read_summary(t, &s);
	mem_sort(s.kinds, s.n, sizeof *s.kinds, compare_kinds);
	add_numbers(&out.s, tracefile_head(t), &s);
	add_kinds(&out.s, &s);
	intern_free(s.names);
	free(s.kinds);
	tracefile_close(t);
	return sink_close(&out) < 0 ? -1 : rc;
}

/* The addresses of the connections, one after the other. */
struct addresses {
	struct str s;
	size_t *at, n, cap;
};

static void
add_address(struct addresses *a, const char *text)
{
	*MEM_ADD(a->at, a->n, a->cap) = a->s.len;
	str_visible(&a->s, text);
	str_addc(&a->s, '\0');
}

static int
show_monitor(const char *path)
{
	struct tracefile *t = open_trace(path);
	struct tracefile_command c;
	struct addresses a = {0};
	struct sink out = {.fd = STDOUT_FILENO};
	double start_us;
	const char *address;
	int rc;

	if (!t)
		return -1;
	start_us = json_get_num(tracefile_head(t), "start_us", 0);
	if (!(start_us >= 0 && start_us < 1e18))
		start_us = 0;
	while ((rc = tracefile_next(t, &c, &address)) > 0) {
		if (address) {
			add_address(&a, address);
			continue;
		}
		address = a.s.s + a.at[c.conn];
		monitor_append_line(&out.s,
		    &(struct monitor_line){.us = (uint64_t)start_us + c.at_us,
			.db = c.db,
			.address = address,
			.naddress = strlen(address),
			.words = (struct tracefile_word *)(uintptr_t)c.words,
			.n = c.n});
		str_addc(&out.s, '\n');
		sink_relieve(&out);
	}
	if (rc < 0)
		err_say("%s", tracefile_error(t));
	tracefile_close(t);
	str_free(&a.s);
	free(a.at);
	return sink_close(&out) < 0 ? -1 : rc;
}

/* --- records */

static volatile sig_atomic_t stop;

static void
on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* The first signal ends the recording, and the trace is complete. */
static void
catch_signals(void)
{
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction a = {.sa_handler = on_signal};

	a.sa_flags = (int)SA_RESETHAND;
	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
		sigaction(sigs[i], &a, NULL);
}

static unsigned
get_hash(const struct opts *o)
{
	if (!o->hash)
		return 0;
	return strcmp(o->hash, "keys") == 0  ? RECORDER_KEYS
	    : strcmp(o->hash, "values") == 0 ? RECORDER_VALUES
					     : RECORDER_KEYS | RECORDER_VALUES;
}

/* A port alone may be that of a capture. */
static bool
uses_server(const struct opts *o, const struct opt_args *args)
{
	struct address at = o->at;

	if (args->n)
		at.port = 0;
	return address_is_given(&at) || o->duration > 0;
}

static int
record_server(const struct opts *o)
{
	struct address at = o->at;
	struct tls_context *tls = NULL;
	struct recorder *r;
	struct client *c;
	char why[CLIENT_WHY] = "";
	struct client_address a = {.password = opt_password(), .why = why};
	char *where;
	int rc;

	if (address_complete(&at) < 0)
		return -1;
	a.host = at.host;
	a.port = (int)at.port;
	a.unixsocket = at.unixsocket;
	a.user = at.user;
	if (at.tls) {
		a.tls = tls = tls_context_new(&(struct tls_options){
		    .cacert = at.cacert, .cert = at.cert, .key = at.key});
		a.servername = a.host;
		if (!tls)
			return -1;
	}
	where = address_format(at.host, at.port, at.unixsocket);
	c = client_open(&a, CONNECT_MS);
	if (!c) {
		err_say("cannot connect to the server at %s: %s", where, why);
		rc = -1;
		goto out;
	}
	if (!o->quiet)
		err_say("records the server running at %s", where);
	r = recorder_new(STDOUT_FILENO, "monitor", get_hash(o));
	catch_signals();
	rc = monitor_live(r, c, o->duration, (const volatile int *)&stop);
	if (recorder_end(r, o->quiet) < 0)
		rc = -1;
	client_close(c);
out:
	free(where);
	tls_context_free(tls);
	return rc;
}

/* Says whether a file that begins with c can be recorded. Returns 0 or -1. */
static int
check_begin(const struct opts *o, FILE *in, const char *name, int c)
{
	if (ferror(in))
		return err_fail_sys("cannot read '%s'", name);
	if (o->at.port && !is_capture(c))
		return err_fail("%s: '--port' with a FILE is for a network "
				"capture, which this is not",
		    name);
	if (c == EOF)
		return err_fail("%s: the input is empty: a FILE has lines of "
				"MONITOR or is a network capture; '--port "
				"PORT' records a running server",
		    name);
	if (c == 'O' || (c >= '0' && c <= '9') || is_capture(c))
		return 0;
	return err_fail("%s: offset 0: neither lines of MONITOR nor a network "
			"capture",
	    name);
}

/* Records what is in a file, and closes it. */
static int
record_stream(const struct opts *o, FILE *in, const char *name)
{
	int c = getc(in), rc;
	bool capture = is_capture(c);
	struct recorder *r;

	ungetc(c, in);
	rc = check_begin(o, in, name, c);
	if (rc == 0) {
		r = recorder_new(STDOUT_FILENO, capture ? "capture" : "monitor",
		    get_hash(o));
		rc = capture
		    ? read_capture(r, in, name,
			  o->at.port ? (unsigned)o->at.port : ADDRESS_PORT)
		    : monitor_read(r, in, name);
		rc = recorder_end(r, o->quiet) < 0 ? -1 : rc;
		if (capture)
			return rc;
	}
	inputs_close(in);
	return rc;
}

static int
record_file(const struct opts *o, const char *path)
{
	FILE *in = inputs_open(path);

	return in ? record_stream(o, in, inputs_name(path)) : -1;
}

static const char *
find_conflict(const struct opts *o, const struct opt_args *args)
{
	if (args->n > 1)
		return "only one FILE can be given";
	if (o->show && o->monitor)
		return "'--show' and '--monitor' exclude each other";
	if ((o->show || o->monitor) &&
	    (uses_server(o, args) || o->at.port || o->hash))
		return "'--show' and '--monitor' read a trace: options of a "
		       "recording cannot be combined with them";
	if (uses_server(o, args) && args->n)
		return "a FILE and a server exclude each other; '--port' alone "
		       "is that of a capture";
	if (address_find_conflict(&o->at))
		return address_find_conflict(&o->at);
	if (!o->show && !o->monitor && isatty(STDOUT_FILENO))
		return "a trace is not for a terminal: write stdout to a file";
	return NULL;
}

static int
run_program(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	const char *wrong = find_conflict(o, args);
	const char *file = args->n ? args->v[0] : "-";

	if (wrong)
		return opt_usage(&program, wrong);
	if (uses_server(o, args))
		return record_server(o);
	if (!args->n && opt_stdin(&program) < 0)
		return -1;
	if (o->show)
		return show_summary(file);
	return o->monitor ? show_monitor(file) : record_file(o, file);
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_program);
}
