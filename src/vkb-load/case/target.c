#include "target.h"
#include "client.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "tls.h"
#include "vkb-load/engine/control.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS 10000
/* With fewer keys the server's fixed memory would dominate bytes_per_key. */
#define MANY_KEYS 1000

int
target_make(struct target *t, const struct json *server, bool unixsocket)
{
	const struct json *list = json_get(server, "nodes"), *tls;
	const char *role, *path;
	struct engine_node *n;

	*t = (struct target){0};
	t->nodes = mem_array(json_len(list) + 1, sizeof *t->nodes);
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		role = json_get_str(j, "role");
		if (role && strcmp(role, "replica") == 0)
			continue;
		n = &t->nodes[t->e.nnodes++];
		n->host = json_get_str(j, "host");
		n->port = (int)json_get_num(j, "port", 0);
		n->pid = (int)json_get_num(j, "pid", 0);
		path = json_get_str(j, "unixsocket");
		if (!n->host)
			n->host = "127.0.0.1";
		if (unixsocket && !path)
			return err_fail("the server has no unix socket");
		if (unixsocket)
			n->unixsocket = path;
	}
	if (!t->e.nnodes)
		return err_fail("the server record has no node");
	t->e.nodes = t->nodes;
	t->e.cluster = json_get_bool(server, "cluster", false);
	tls = json_get(server, "tls");
	if (!tls)
		return 0;
	t->e.tls = true;
	t->e.cacert = json_get_str(tls, "cacert");
	t->e.cert = json_get_str(tls, "cert");
	t->e.key = json_get_str(tls, "key");
	t->e.servername = json_get_str(tls, "servername");
	t->tls = tls_context_new(json_get_str(tls, "cacert"),
	    json_get_str(tls, "cert"), json_get_str(tls, "key"));
	return t->tls ? 0 : -1;
}

void
target_free(struct target *t)
{
	free(t->nodes);
	tls_context_free(t->tls);
	*t = (struct target){0};
}

struct client *
target_client(const struct target *t, size_t i)
{
	const struct engine_node *n = &t->nodes[i];
	char why[CLIENT_WHY];
	struct client *c =
	    control_open(&t->e, t->tls, i, control_ms(&t->e, CONNECT_MS), why);

	if (c)
		return c;
	if (errno == EACCES && t->e.password && !n->unixsocket)
		err_fail("the server at %s:%d refuses the user or the password",
		    n->host, n->port);
	else if (n->unixsocket)
		err_fail(
		    "cannot reach the server at '%s': %s", n->unixsocket, why);
	else
		err_fail("cannot reach the server at %s:%d: %s", n->host,
		    n->port, why);
	return NULL;
}

static double
read_info_number(const struct reply *r, const char *name)
{
	char *text = r ? reply_info(r, name) : NULL;
	double v;

	if (!text || num_real(text, &v) < 0)
		v = NAN;
	free(text);
	return v;
}

/*
 * Returns the number of keys in all databases by INFO keyspace; NAN: unknown.
 */
static double
count_keys(const struct reply *r)
{
	const char *s = r ? reply_text(r) : NULL, *end;
	double keys = 0;

	if (!s || reply_type(r) != REPLY_TEXT)
		return NAN;
	for (; *s; s = end + strspn(end, "\r\n")) {
		const char *at;

		end = s + strcspn(s, "\r\n");
		if (strncmp(s, "db", 2) != 0 || !(at = strchr(s, ':')) ||
		    at > end || strncmp(at, ":keys=", 6) != 0)
			continue;
		keys += strtod(at + 6, NULL);
	}
	return keys;
}

int
target_memory(const struct target *t, struct json *metrics)
{
	double used = 0, peak = 0, resident = 0, dataset = 0, keys = 0;
	struct client *c;
	struct reply *r, *k;

	for (size_t i = 0; i < t->e.nnodes; i++) {
		c = target_client(t, i);
		if (!c)
			return -1;
		r = CLIENT_CALL(
		    c, control_ms(&t->e, CONNECT_MS), "INFO", "memory");
		if (!r)
			err_say("the server at %s:%d does not answer: %s",
			    t->nodes[i].host, t->nodes[i].port,
			    client_error(c));
		used += read_info_number(r, "used_memory");
		peak += read_info_number(r, "used_memory_peak");
		resident += read_info_number(r, "used_memory_rss");
		dataset += read_info_number(r, "used_memory_dataset");
		k = !r ? NULL
		       : CLIENT_CALL(c, control_ms(&t->e, CONNECT_MS), "INFO",
			     "keyspace");
		keys += count_keys(k);
		client_close(c);
		reply_free(k);
		if (!r)
			return -1;
		reply_free(r);
	}
	if (isfinite(used))
		json_set_num(metrics, "used_memory_bytes", used);
	if (isfinite(peak))
		json_set_num(metrics, "used_memory_peak_bytes", peak);
	if (isfinite(resident / used))
		json_set_num(
		    metrics, "mem_fragmentation_ratio", resident / used);
	if (isfinite(dataset / keys) && dataset > 0 && keys >= MANY_KEYS)
		json_set_num(metrics, "bytes_per_key", dataset / keys);
	return 0;
}
