#include "keyspace.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_MS 600000 /* unless the target has a timeout */
#define MOVING_MS 20000 /* to remove keys while slots move */
#define AGAIN_MS 100    /* until the next attempt */
#define DATABASES 1024  /* further ones are counted, not listed */

struct count {
	double keys[DATABASES], all;
	size_t indexes;
	struct str ids; /* run_ids of the servers */
};

static int
get_flush_ms(const struct target *t)
{
	return t->e.timeout_s > 0 ? control_ms(&t->e, 0) : FLUSH_MS;
}

/* Fails while the server loads its data: its key counts are not final yet. */
static int
read_info(struct count *n, const struct reply *info)
{
	char *loading, *id;
	bool is_loading;

	if (!reply_text(info))
		return err_fail("INFO: the answer is not text");
	loading = reply_info(info, "loading");
	id = reply_info(info, "run_id");
	is_loading = loading && strcmp(loading, "0") != 0;
	n->all += target_count_keys(reply_text(info), n->keys, DATABASES);
	str_printf(&n->ids, "%s ", id ? id : "?");
	free(loading);
	free(id);
	if (is_loading)
		return err_fail("the server is still loading its data: try "
				"again when "
				"'INFO persistence' has loading:0");
	return 0;
}

static int
read_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	struct reply *r = CONTROL_ASK(c, control_ms(&t->e, 0), "INFO");
	struct count *n = arg;
	int rc = r ? read_info(n, r) : -1;

	(void)i;
	reply_free(r);
	if (rc < 0)
		return -1;
	/* A server without such a module answers with an error: no index. */
	r = CLIENT_CALL(c, control_ms(&t->e, 0), "FT._LIST");
	if (!r)
		return err_fail("FT._LIST: %s", client_error(c));
	n->indexes += reply_len(r);
	reply_free(r);
	return 0;
}

static void
describe_count(struct str *s, const struct count *n)
{
	const char *comma = " (";

	if (n->all > 0) {
		str_printf(s, "%.0f key%s", n->all, n->all == 1 ? "" : "s");
		for (size_t i = 0; i < DATABASES; i++)
			if (n->keys[i] > 0) {
				str_printf(
				    s, "%s%.0f in db%zu", comma, n->keys[i], i);
				comma = ", ";
			}
		if (*comma == ',')
			str_addc(s, ')');
	}
	if (n->indexes)
		str_printf(s, "%s%zu search index%s", s->len ? " and " : "",
		    n->indexes, n->indexes == 1 ? "" : "es");
}

int
keyspace_read(const struct target *t, char **text, char **ids)
{
	struct count *n = mem_new(sizeof *n);
	struct str s = {0};
	int rc;

	*text = *ids = NULL;
	rc = target_each(t, read_node, n);
	if (rc == 0)
		describe_count(&s, n);
	if (s.len)
		*text = str_take(&s);
	if (rc == 0)
		*ids = str_take(&n->ids);
	str_free(&n->ids);
	free(n);
	return rc;
}

/*
 * Drops the indexes whose names begin with 'prefix'; an index may outlive its
 * documents.
 */
static int
drop_indexes(const struct target *t, struct client *c, const char *prefix)
{
	struct reply *list = CLIENT_CALL(c, control_ms(&t->e, 0), "FT._LIST"),
		     *r;
	const char *name;
	int rc = 0;

	if (!list)
		return err_fail("FT._LIST: %s", client_error(c));
	for (size_t i = 0; i < reply_len(list) && rc == 0; i++) {
		name = reply_text(reply_at(list, i));
		if (!name || !str_starts(name, prefix))
			continue;
		r = CONTROL_ASK(c, FLUSH_MS, "FT.DROPINDEX", name);
		rc = r ? 0 : -1;
		reply_free(r);
	}
	reply_free(list);
	return rc;
}

static int
empty_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	int ms = get_flush_ms(t);
	struct reply *r;
	bool ok;

	(void)i;
	(void)arg;
	if (drop_indexes(t, c, "") < 0)
		return -1;
	r = CLIENT_CALL(c, ms, "FLUSHALL", "SYNC");
	if (r && !reply_is(r, "OK")) { /* before 6.2 */
		reply_free(r);
		r = CLIENT_CALL(c, ms, "FLUSHALL");
	}
	ok = r && reply_is(r, "OK");
	if (!ok)
		err_fail("FLUSHALL: %s%s",
		    r && reply_text(r) ? reply_text(r) : client_error(c),
		    r ? "; --no-flush measures without emptying the server"
		      : "");
	reply_free(r);
	return ok ? 0 : -1;
}

int
keyspace_empty(const struct target *t)
{
	return target_each(t, empty_node, NULL);
}

/* Of a command with one key, so without TRYAGAIN. */
static bool
is_redirect(const char *error)
{
	return str_starts(error, "MOVED ") || str_starts(error, "ASK ");
}

struct removal {
	const char *pattern;
	bool moved; /* keys went to another node meanwhile */
};

/*
 * Sends one UNLINK for each key, in one write: in a cluster a command may only
 * use keys of one slot. Sets *moved if some are on their way to another node.
 */
static int
unlink_keys(const struct target *t, struct client *c, const struct reply *keys,
    bool *moved)
{
	size_t n = reply_len(keys);
	struct str s = {0};
	const struct reply *key;
	const char *error;
	struct reply *r;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		key = reply_at(keys, i);
		client_format_head(&s, 2);
		client_format_word(&s, "UNLINK", 6);
		client_format_word(&s, reply_text(key), reply_size(key));
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		r = client_send(
		    c, get_flush_ms(t), i ? "" : s.s, i ? 0 : s.len);
		error =
		    r && reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
		if (!r)
			rc = err_fail("UNLINK: %s", client_error(c));
		else if (error && is_redirect(error))
			*moved = true;
		else if (error)
			rc = err_fail("UNLINK: %s", error);
		reply_free(r);
	}
	str_free(&s);
	return rc;
}

static int
remove_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	struct removal *x = arg;
	const char *next;
	char *cursor = mem_str("0");
	struct reply *r;
	int rc = drop_indexes(t, c, t->e.prefix);

	(void)i;
	while (rc == 0) {
		r = CONTROL_ASK(c, get_flush_ms(t), "SCAN", cursor, "MATCH",
		    x->pattern, "COUNT", "1000");
		next =
		    r && reply_len(r) == 2 ? reply_text(reply_at(r, 0)) : NULL;
		if (!r)
			rc = -1;
		else if (!next)
			rc = err_fail("SCAN: unexpected answer");
		else
			rc = unlink_keys(t, c, reply_at(r, 1), &x->moved);
		free(cursor);
		cursor = mem_str(next ? next : "0");
		reply_free(r);
		if (strcmp(cursor, "0") == 0)
			break;
	}
	free(cursor);
	return rc;
}

/* Asks for what removing keys needs; changes nothing. */
static int
check_node_removal(
    const struct target *t, size_t i, struct client *c, void *arg)
{
	const char *key = arg, *error;
	struct reply *r = CONTROL_ASK(c, get_flush_ms(t), "SCAN", "0");
	int rc = r ? 0 : -1;

	(void)i;
	reply_free(r);
	if (rc < 0)
		return -1;
	r = CLIENT_CALL(c, get_flush_ms(t), "UNLINK", key);
	error = r && reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
	if (!r)
		rc = err_fail("UNLINK: %s", client_error(c));
	else if (error && !is_redirect(error) &&
	    !str_starts(error, "CLUSTERDOWN"))
		rc = err_fail("UNLINK: %s", error);
	reply_free(r);
	return rc;
}

int
keyspace_check_removal(const struct target *t)
{
	char *key = mem_printf("%snone", t->e.prefix);
	int rc = target_each(t, check_node_removal, key);

	if (rc < 0)
		err_say("keys of the load could not be removed: nothing is "
			"measured");
	free(key);
	return rc;
}

static bool
has_node(const struct target *t, const char *host, int port)
{
	for (size_t i = 0; i < t->e.nnodes; i++)
		if (t->nodes[i].port == port && t->nodes[i].host &&
		    strcmp(t->nodes[i].host, host) == 0)
			return true;
	return false;
}

/*
 * Removes the keys on all primaries, including those that got slots since the
 * target was made.
 */
static int
remove_from_cluster(const struct target *t, struct removal *x)
{
	struct client *c = target_client(t, 0);
	struct target now = *t;
	struct control_slots s;
	const char *wrong;
	int rc;

	if (!c)
		return -1;
	wrong = control_slots(&s, c, control_ms(&t->e, 0), t->nodes[0].host);
	now.nodes = mem_array(t->e.nnodes + s.n, sizeof *now.nodes);
	memcpy(now.nodes, t->nodes, t->e.nnodes * sizeof *now.nodes);
	now.e.nodes = now.nodes;
	for (size_t i = 0; i < s.n && !wrong; i++)
		if (!has_node(&now, s.v[i].host, s.v[i].port))
			now.nodes[now.e.nnodes++] = (struct engine_node){
			    .host = s.v[i].host, .port = s.v[i].port};
	rc = wrong ? err_fail("CLUSTER SLOTS: %s", wrong)
		   : target_each(&now, remove_node, x);
	free(now.nodes);
	control_slots_free(&s);
	client_close(c);
	return rc;
}

int
keyspace_remove_own(const struct target *t)
{
	char *pattern = mem_printf("%s*", t->e.prefix);
	struct removal x = {.pattern = pattern};
	int64_t until =
	    clock_ns() + control_ms(&t->e, MOVING_MS) * INT64_C(1000000);
	int rc;

	do {
		if (x.moved)
			poll(NULL, 0, AGAIN_MS);
		x.moved = false;
		rc = t->e.cluster ? remove_from_cluster(t, &x)
				  : target_each(t, remove_node, &x);
	} while (rc == 0 && x.moved && clock_ns() < until);
	if (x.moved && rc == 0)
		rc = err_fail("keys of the load are in slots of the cluster "
			      "that move");
	if (rc < 0)
		err_say("keys '%s' may be left on the server", pattern);
	free(pattern);
	return rc;
}
