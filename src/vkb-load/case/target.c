#include "target.h"
#include "client.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "tls.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/plan/benchcase.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS 10000

static bool
is_replica(const struct json *node)
{
	const char *role = json_get_str(node, "role");

	return role && strcmp(role, "replica") == 0;
}

/* Reads a node. Returns 0, or -1 after reporting an error. */
static int
read_node(struct engine_node *n, const struct json *j, bool unixsocket)
{
	const char *path = json_get_str(j, "unixsocket");

	n->host = json_get_str(j, "host");
	n->port = (int)json_get_num(j, "port", 0);
	n->pid = (int)json_get_num(j, "pid", 0);
	if (!n->host)
		n->host = "127.0.0.1";
	if (unixsocket && !path)
		return err_fail("the server has no unix socket");
	if (unixsocket)
		n->unixsocket = path;
	return 0;
}

/* Reads the primaries, and then the replicas. Returns 0 or -1. */
static int
read_nodes(struct target *t, const struct json *list, bool unixsocket)
{
	const struct json *j;

	t->nodes = mem_array(json_len(list) + 1, sizeof *t->nodes);
	for (j = json_first(list); j; j = json_next(j))
		if (!is_replica(j) &&
		    read_node(&t->nodes[t->e.nnodes++], j, unixsocket) < 0)
			return -1;
	for (j = json_first(list); j; j = json_next(j))
		if (is_replica(j) &&
		    read_node(
			&t->nodes[t->e.nnodes + t->nreplicas++], j, false) < 0)
			return -1;
	return 0;
}

void
target_use_replicas(struct target *t)
{
	t->e.replicas = t->nodes + t->e.nnodes;
	t->e.nreplicas = t->nreplicas;
}

int
target_make(struct target *t, const struct json *server, bool unixsocket,
    const struct bench_load *l)
{
	const struct json *tls;

	*t = (struct target){0};
	if (read_nodes(t, json_get(server, "nodes"), unixsocket) < 0)
		return -1;
	if (!t->e.nnodes)
		return err_fail("the server record has no node");
	t->e.nodes = t->nodes;
	t->e.cluster = json_get_bool(server, "cluster", false);
	if (l) {
		t->e.db = (int)l->db;
		t->e.resume = l->tls_resumption;
	}
	tls = json_get(server, "tls");
	if (!tls)
		return 0;
	if (l)
		t->e.how = l->tls;
	t->e.how.cacert = json_get_str(tls, "cacert");
	t->e.how.cert = json_get_str(tls, "cert");
	t->e.how.key = json_get_str(tls, "key");
	t->e.how.insecure = json_get_bool(tls, "insecure", false);
	t->e.servername = json_get_str(tls, "servername");
	t->e.tls = tls_context_new(&t->e.how);
	return t->e.tls ? 0 : -1;
}

void
target_free(struct target *t)
{
	free(t->nodes);
	tls_context_free(t->e.tls);
	*t = (struct target){0};
}

struct client *
target_client(const struct target *t, size_t i)
{
	const struct engine_node *n = &t->nodes[i];
	char why[CLIENT_WHY];
	struct client *c =
	    control_open(&t->e, i, control_ms(&t->e, CONNECT_MS), why);

	if (c)
		return c;
	if (errno == EDOM)
		err_fail("the server at %s port %d refuses the database %d of "
			 "the case ('db'): %s",
		    n->host, n->port, t->e.db, why);
	else if (errno == EACCES && t->e.password && !n->unixsocket)
		err_fail("the server at %s:%d refuses the user or the "
			 "password: %s",
		    n->host, n->port, why);
	else if (n->unixsocket)
		err_fail(
		    "cannot reach the server at '%s': %s", n->unixsocket, why);
	else
		err_fail("cannot reach the server at %s:%d: %s", n->host,
		    n->port, why);
	return NULL;
}

int
target_each(const struct target *t,
    int (*fn)(const struct target *, size_t i, struct client *, void *),
    void *arg)
{
	struct client *c;
	int rc = 0;

	for (size_t i = 0; i < t->e.nnodes && rc == 0; i++) {
		c = target_client(t, i);
		rc = c && (!fn || fn(t, i, c, arg) == 0) ? 0 : -1;
		client_close(c);
	}
	return rc;
}

int
target_check(const struct target *t)
{
	return t->e.db ? target_each(t, NULL, NULL) : 0;
}

double
target_count_keys(const char *info, double *databases, size_t n)
{
	double keys, sum = 0;
	unsigned db;

	for (const char *p = info; (p = strstr(p, "db")); p += 2)
		if ((p == info || p[-1] == '\n') &&
		    sscanf(p, "db%u:keys=%lf", &db, &keys) == 2) {
			sum += keys;
			if (db < n)
				databases[db] += keys;
		}
	return sum;
}

double
target_ask_keys(struct client *c, int ms)
{
	struct reply *r = CLIENT_CALL(c, ms, "INFO", "keyspace");
	double keys = r && reply_type(r) == REPLY_TEXT
	    ? target_count_keys(reply_text(r), NULL, 0)
	    : NAN;

	reply_free(r);
	return keys;
}

static int
add_memory(const struct target *t, size_t i, struct client *c, void *memory)
{
	struct target_memory *m = memory;
	int ms = control_ms(&t->e, CONNECT_MS);
	struct reply *r = CLIENT_CALL(c, ms, "INFO", "memory");

	if (!r)
		return err_fail("the server at %s:%d does not answer: %s",
		    t->nodes[i].host, t->nodes[i].port, client_error(c));
	m->used += reply_info_number(r, "used_memory");
	m->peak += reply_info_number(r, "used_memory_peak");
	m->resident += reply_info_number(r, "used_memory_rss");
	m->dataset += reply_info_number(r, "used_memory_dataset");
	reply_free(r);
	m->keys += target_ask_keys(c, ms);
	return 0;
}

int
target_read_memory(const struct target *t, struct target_memory *m)
{
	*m = (struct target_memory){0};
	return target_each(t, add_memory, m);
}

int
target_memory(const struct target *t, struct json *metrics)
{
	struct target_memory m;

	if (target_read_memory(t, &m) < 0)
		return -1;
	json_set_num(metrics, "used_memory_bytes", m.used);
	json_set_num(metrics, "used_memory_peak_bytes", m.peak);
	json_set_num(metrics, "mem_fragmentation_ratio", m.resident / m.used);
	if (m.dataset > 0 && m.keys >= TARGET_MANY_KEYS)
		json_set_num(metrics, "bytes_per_key", m.dataset / m.keys);
	return 0;
}
