#include "hosts.h"
#include "address.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "record.h"
#include "session.h"
#include "str.h"
#include "vkb-load/case/extserver.h"
#include "vkb-load/case/peers.h"
#include "vkb-load/case/target.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1000 /* parts */

/* 0/N is part N: some schedulers number their tasks from 0 on. */
static int
parse_client(struct hosts *h)
{
	const char *s = h->client;
	int n = 0;

	if (!s)
		return 0;
	if (sscanf(s, "%9u/%9u%n", &h->part, &h->parts, &n) != 2 || s[n] ||
	    strspn(s, "0123456789/") != (size_t)n || h->parts < 1 ||
	    h->parts > MOST || h->part > h->parts)
		return err_fail("option '--client': '%s' is not I/N with I "
				"from 1 to N, or from 0 to N - 1, and N up to "
				"%d",
		    s, MOST);
	if (!h->part)
		h->part = h->parts;
	return 0;
}

static int
parse_start(const char *s, double *at)
{
	if (s && clock_seconds(s, at) < 0)
		return err_fail("option '--start-at': '%s' is not a date with "
				"a time, as 2026-03-02T08:00:00Z",
		    s);
	return 0;
}

int
hosts_parse(
    struct hosts *h, const struct extserver_opts *at, struct session_opts *o)
{
	const char *why = "it is empty";
	size_t n = 0;

	if (parse_client(h) < 0 || parse_start(h->start_at, &o->start_at_s) < 0)
		return -1;
	if (!h->command)
		return 0;
	h->serve =
	    (struct serve){.command = command_split(h->command, &n, &why),
		.host = at->at.host,
		.port = (int)at->at.port};
	o->serve = &h->serve;
	/* What memory that machine has for several servers is not known. */
	o->order = o->order ? o->order : "interleaved";
	return n ? 0
		 : err_fail("option '--serve': '%s' is not a command: %s",
		       h->command, why);
}

void
hosts_free(struct hosts *h)
{
	mem_free_list(h->serve.command);
	h->serve.command = NULL;
}

const char *
hosts_explain(const struct hosts *h, const struct extserver_opts *r,
    const struct session_opts *o, bool running, bool needs_host)
{
	const char *order = o->order;

	if (h->command && (running || r->at.unixsocket || r->at.tls))
		return "'--serve' starts servers: a running one, "
		       "'--unixsocket' and '--tls' cannot be combined with it";
	if (h->command && !r->at.host)
		return "'--serve' needs '--host', the address of that machine, "
		       "to which servers bind";
	if (h->client && !running)
		return "'--client' needs a server that all parts reach: add "
		       "'--host', '--port' or '--use-running-server'";
	if (h->client && o->budget_s > 0)
		return "'--client' cannot be combined with '--budget': parts "
		       "would end their cases after different numbers of runs";
	if ((h->client || h->command) &&
	    (needs_host || o->count.all || o->count.only || o->count.possible ||
		(order && strcmp(order, "slices") == 0)))
		return "'--client' and '--serve' cannot be combined with "
		       "'--count', '--profiles', '--logs', '--again' and "
		       "'--order slices', which need all on one host";
	return NULL;
}

/* Returns a hash of what all parts of a load must have equal. */
static unsigned long long
hash_plan(const struct session_opts *o, const char *runs, const struct plan *p,
    const struct extserver_opts *r)
{
	struct str s = {0};
	unsigned long long h;

	for (size_t i = 0; i < p->n; i++)
		jsonpublic_canonical(&s, p->cases[i]);
	str_printf(&s, "\n%s %s %d %d %f", runs, o->order ? o->order : "",
	    r->flush, r->no_flush, o->start_at_s);
	h = str_hash(STR_HASH, s.s, s.len);
	str_free(&s);
	return h;
}

int
hosts_meet(const struct hosts *h, struct session_opts *o, const char *runs,
    const struct plan *p, struct extserver *r, const struct extserver_opts *at,
    const volatile int *stop)
{
	char name[16];
	struct peers_opts want = {.part = h->part,
	    .parts = h->parts,
	    .plan = hash_plan(o, runs, p, at),
	    .session = name,
	    .seed = o->seed,
	    .timeout_s = o->timeout_s,
	    .quiet = o->quiet,
	    .stop = stop};

	if (!h->part)
		return 0;
	if (record_name_session(name) < 0)
		return -1;
	want.prefix = extserver_prefix(r);
	o->peers = peers_meet(extserver_target(r), &want);
	if (!o->peers)
		return -1;
	o->seed = peers_seed(o->peers);
	if (peers_prefix(o->peers))
		extserver_share_prefix(r, peers_prefix(o->peers));
	return 0;
}

static void
add_option(struct str *s, const char *name, const char *value)
{
	if (!value)
		return;
	str_printf(s, " %s ", name);
	str_word(s, value);
}

/* Adds valkey-cli with the options that reach a node of the target. */
static void
add_client(
    struct str *s, const struct engine_target *e, const struct engine_node *n)
{
	str_add(s, "valkey-cli");
	if (n->unixsocket) {
		add_option(s, "-s", n->unixsocket);
	} else {
		add_option(s, "-h", n->host);
		str_printf(s, " -p %d", n->port);
	}
	if (e->tls) {
		str_add(s, e->how.insecure ? " --tls --insecure" : " --tls");
		add_option(s, "--cacert", e->how.cacert);
		add_option(s, "--cert", e->how.cert);
		add_option(s, "--key", e->how.key);
	}
	add_option(s, "--user", e->user);
	if (e->db)
		str_printf(s, " -n %d", e->db);
}

/* Makes the command that removes the keys of the load from a node. A password
 * is where it was taken from, and is not shown. */
static void
add_removal(struct str *s, const struct engine_target *e,
    const struct engine_node *n, const char *prefix)
{
	const char *name = opt_password_name();
	struct str login = {0}, client = {0}, pattern = {0};

	str_add(&login, "");
	if (name && strcmp(name, "REDISCLI_AUTH") != 0)
		str_printf(&login, "REDISCLI_AUTH=\"$%s\" ", name);
	add_client(&client, e, n);
	str_printf(s, "%s%s", login.s, client.s);
	if (prefix) {
		str_printf(&pattern, "%s*", prefix);
		add_option(s, "--scan --pattern", pattern.s);
		/* In a cluster a command may only use keys of one slot. */
		if (e->cluster)
			str_printf(s,
			    " | LC_ALL=C sed 's/[\"\\\\]/\\\\&/g; "
			    "s/.*/unlink \"&\"/' | %s%s --pipe",
			    login.s, client.s);
		else
			str_printf(s, " | %sxargs -r -d '\\n' %s unlink",
			    login.s, client.s);
	} else {
		str_add(s, " flushall");
	}
	str_free(&login);
	str_free(&client);
	str_free(&pattern);
}

void
hosts_report_left(const struct peers *p, const struct extserver *r)
{
	const struct engine_target *e;
	struct str s = {0};

	if (!peers_is_leaderless(p))
		return;
	e = &extserver_target(r)->e;
	err_say("part 1, which removes the keys of the load, has ended; if it "
		"was killed, they are still there. To remove them%s:",
	    e->cluster ? " from all primaries" : "");
	for (size_t i = 0; i < e->nnodes; i++) {
		str_clear(&s);
		add_removal(&s, e, &e->nodes[i], extserver_prefix(r));
		err_say("  %s", s.s);
	}
	str_free(&s);
}

/* Returns the address that servers bind to, or NULL if it is not only one. */
static const char *
get_host(const struct json *server)
{
	static const char *const any[] = {"*", "0.0.0.0", "::", "::*"};
	const char *host = json_get_str(server, "host");

	for (size_t i = 0; host && i < sizeof any / sizeof *any; i++)
		if (strcmp(host, any[i]) == 0)
			return NULL;
	return host && !strchr(host, ' ') ? host : NULL;
}

static int
refuse_option(const struct json *cas, const char *option, const char *value,
    const char *key, const char *own)
{
	return err_fail("the option '%s' says %s, and the configuration of %s "
			"has \"%s\": %s; a running server is one of them: "
			"leave the other one out",
	    option, value, json_get_str(cas, "id"), key, own);
}

static int
refuse_case(const struct json *cas, const char *key, const char *own,
    const struct json *other, const char *value)
{
	return err_fail("the configuration of %s has \"%s\": %s, that of %s "
			"has %s: choose the cases of one running server by "
			"'--case'",
	    json_get_str(other, "id"), key, value, json_get_str(cas, "id"),
	    own);
}

/* A part of the address as the cases have it. */
struct part {
	const char *option, *key;
	const char *given; /* by the option, or NULL */
	char given_text[32];
	const struct json *first; /* the case that said it first, or NULL */
	const char *value;        /* what it said */
	char text[32];
};

/* Takes what a case says of a part. 0, or -1, error reported. */
static int
take_part(struct part *p, const struct json *cas, const char *own)
{
	if (!own)
		return 0;
	if (p->given && strcmp(p->given, own) != 0)
		return refuse_option(cas, p->option, p->given, p->key, own);
	if (p->first && strcmp(p->value, own) != 0)
		return refuse_case(cas, p->key, own, p->first, p->value);
	if (!p->first) {
		p->first = cas;
		p->value = own;
	}
	return 0;
}

static int
take_port(struct part *p, const struct json *cas, const struct json *server)
{
	double port = json_get_num(server, "port", 0);
	char text[32];
	bool first = !p->first;
	int rc;

	snprintf(text, sizeof text, "%.0f", port);
	rc = take_part(p, cas, port > 0 ? text : NULL);
	if (first && p->first) { /* 'text' does not last */
		memcpy(p->text, text, sizeof text);
		p->value = p->text;
	}
	return rc;
}

static int
check_db(const struct json *cas, long long db)
{
	long long own =
	    (long long)json_get_num(json_get(cas, "config"), "db", 0);
	char given[32], text[32];

	if (db < 0 || own == db)
		return 0;
	snprintf(given, sizeof given, "%lld", db);
	snprintf(text, sizeof text, "%lld", own);
	return refuse_option(cas, "--uri", given, "db", text);
}

int
hosts_merge_address(struct address *at, const struct plan *p, long long db)
{
	struct part host = {
	    .option = "--host", .key = "bind_ip", .given = at->host};
	struct part port = {.option = "--port",
	    .key = "port",
	    .given = at->port ? port.given_text : NULL};
	const struct json *server;
	size_t tls = 0, sockets = 0;

	snprintf(port.given_text, sizeof port.given_text, "%lld", at->port);
	for (size_t i = 0; i < p->n; i++) {
		server = json_get(p->cases[i], "server");
		tls += json_get_bool(server, "tls", false);
		sockets += json_get_bool(server, "unixsocket", false);
		if (check_db(p->cases[i], db) < 0)
			return -1;
		if (!at->unixsocket &&
		    (take_part(&host, p->cases[i], get_host(server)) < 0 ||
			take_port(&port, p->cases[i], server) < 0))
			return -1;
	}
	if (sockets && sockets == p->n && !address_is_given(at))
		at->unixsocket = opt_variable("VKB_SOCKET");
	if (at->unixsocket)
		return 0;
	if (!at->host)
		at->host = host.value;
	if (!at->port && port.value)
		at->port = atoi(port.value);
	if (tls && tls == p->n)
		at->tls = true;
	return 0;
}
