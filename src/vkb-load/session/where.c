#include "where.h"
#include "address.h"
#include "err.h"
#include "json.h"
#include "opt.h"
#include "vkb-load/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
where_merge(struct address *at, const struct plan *p, long long db)
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
