#include "readback.h"
#include "checks.h"
#include "client.h"
#include "clock.h"
#include "contents.h"
#include "control.h"
#include "err.h"
#include "hint.h"
#include "keys.h"
#include "mem.h"
#include "slotmap.h"
#include "str.h"
#include "values.h"
#include "verify.h"
#include "written.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 200           /* requests */
#define BATCH_BYTES 1000000 /* of their replies */
#define AGAIN_MS 100        /* before what was not answered is asked again */
#define REPORT_NS 250000000 /* between two reports of progress */

struct readback {
	const struct engine_target *target;
	const volatile int *stop;
	engine_progress_fn *progress;
	void *arg;
	int64_t reported_ns;
	struct slotmap *map;
	/* Of the stream. */
	const struct written *written;
	struct engine_result *result;
	struct checks checks;
	struct checks_queue awaited;
	uint32_t *left; /* numbers of the names not read yet */
	size_t nleft;
};

static const struct written_name *
get_name(const struct readback *x, size_t i)
{
	return &x->written->names[i];
}

static struct client *
open_client(const struct readback *x, const char *host, int port,
    const char *unixsocket, char why[CLIENT_WHY])
{
	struct engine_node node = {host, port, unixsocket, 0};
	struct engine_target t = *x->target;

	t.nodes = &node;
	t.nnodes = 1;
	return control_open(&t, 0, control_ms(&t, 0), why);
}

/* Does the server evict keys when its memory is full? */
static bool
may_evict(const struct readback *x, struct client *c)
{
	struct reply *r =
	    CLIENT_CALL(c, control_ms(x->target, 0), "INFO", "memory");
	char *policy = r ? reply_info(r, "maxmemory_policy") : NULL;
	bool yes = policy && strcmp(policy, "noeviction") != 0 &&
	    reply_info_number(r, "maxmemory") > 0;

	free(policy);
	reply_free(r);
	return yes;
}

/* Appends the command that reads a value. */
static void
add_command(struct readback *x, const struct written_name *v, struct str *s)
{
	const char *key = x->written->bytes + v->at;

	client_format_head(s, v->field ? 3 : 2);
	client_format_word(s, v->field ? "HGET" : "GET", v->field ? 4 : 3);
	client_format_word(s, key, v->nkey);
	if (v->field)
		client_format_word(s, key + v->nkey, v->nfield);
}

/* Compares a reply with what was written. */
static void
check_reply(
    struct readback *x, const struct written_name *v, const struct reply *r)
{
	const char *key = x->written->bytes + v->at;
	struct checks *k = &x->checks;
	struct checks_queue *q = &x->awaited;
	char why[256];

	checks_add_request(q, false);
	checks_add_value(
	    q, key, v->nkey, v->field ? key + v->nkey : NULL, v->nfield);
	switch (reply_type(r)) {
	case REPLY_TEXT:
		checks_take(k, q, 0, reply_text(r), reply_size(r), 0);
		break;
	case REPLY_NIL:
		checks_miss(k, q, 0);
		break;
	case REPLY_ERROR:
		snprintf(why, sizeof why,
		    "it was written, and cannot be read: %s", reply_text(r));
		checks_refuse(k, q, 0, why);
		break;
	default:
		break;
	}
	checks_end(k, q, 1);
}

/* Reads a value from the node to which its keys are being moved. Returns false
 * if that does not answer. */
static bool
read_asking(
    struct readback *x, const struct written_name *v, const struct hint *to)
{
	char why[CLIENT_WHY];
	struct client *c = open_client(x, to->host, to->port, NULL, why);
	int ms = control_ms(x->target, 0);
	struct reply *r = c ? CLIENT_CALL(c, ms, "ASKING") : NULL;
	struct str s = {0};
	bool done;

	add_command(x, v, &s);
	reply_free(r);
	r = r ? client_send(c, ms, s.s, s.len) : NULL;
	done = r && reply_type(r) != REPLY_ERROR;
	if (done)
		check_reply(x, v, r);
	reply_free(r);
	client_close(c);
	str_free(&s);
	return done;
}

/* Takes the reply to a value. Returns false if it is to be asked for again. */
static bool
take_reply(struct readback *x, const struct slotmap_node *node, size_t i,
    const struct reply *r)
{
	const char *line = reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
	struct hint to;

	if (line && hint_read_passing(&to, line, node))
		return false;
	if (line && x->target->cluster &&
	    hint_read_moved(&to, line, node->host))
		return to.asking && read_asking(x, get_name(x, i), &to);
	check_reply(x, get_name(x, i), r);
	return true;
}

/* Returns the node that has a value. */
static const struct slotmap_node *
find_node(const struct readback *x, const struct written_name *v)
{
	const char *key = x->written->bytes + v->at;

	return x->target->cluster
	    ? &x->map->nodes[x->map->owners[keys_hash_slot(key, v->nkey)]]
	    : x->map->nodes;
}

/* Asks for the next values of a node, beginning with number *at of those that
 * are left. Returns how many were asked for; 'asked' has their places in
 * 'left'. */
static size_t
make_batch(struct readback *x, const struct slotmap_node *node, size_t *at,
    size_t *asked, struct str *s)
{
	const struct written_name *v;
	size_t n = 0, bytes = 0;

	for (; *at < x->nleft && n < BATCH && bytes < BATCH_BYTES; ++*at) {
		v = get_name(x, x->left[*at]);
		if (find_node(x, v) != node)
			continue;
		add_command(x, v, s);
		bytes += contents_size(x->checks.sizes, v->id);
		asked[n++] = *at;
	}
	return n;
}

#define READ UINT32_MAX

/* Reports how many values were read; in a load of several parts, also publishes
 * that this part still runs. */
static void
report_progress(struct readback *x, size_t nread)
{
	struct engine_progress p = {
	    .done = (double)nread / (double)x->written->n,
	    .rps = NAN,
	    .p99_ms = NAN,
	    .reading = true};
	int64_t now = clock_ns();

	if (!x->progress || now - x->reported_ns < REPORT_NS)
		return;
	x->reported_ns = now;
	x->progress(x->arg, &p);
}

/* Reads the values that are on a node. Returns why that failed, or NULL. */
static const char *
read_node(struct readback *x, const struct slotmap_node *node, struct client *c,
    char why[CLIENT_WHY])
{
	int ms = control_ms(x->target, 0);
	size_t at = 0, n, i, nread = x->written->n - x->nleft, asked[BATCH];
	struct str s = {0};
	struct reply *r;

	while ((n = make_batch(x, node, &at, asked, &s)) && !*x->stop) {
		report_progress(x, nread);
		for (i = 0; i < n; i++) {
			r = i ? client_next(c, ms)
			      : client_send(c, ms, s.s, s.len);
			if (!r)
				break;
			if (take_reply(x, node, x->left[asked[i]], r))
				x->left[asked[i]] = READ;
			reply_free(r);
		}
		if (i < n) {
			snprintf(why, CLIENT_WHY, "%s",
			    *client_error(c) ? client_error(c) : "no reply");
			break;
		}
		nread += n;
		str_clear(&s);
	}
	str_free(&s);
	return n && !*x->stop ? why : NULL;
}

/* Leaves out of the list what was read. */
static void
drop_read(struct readback *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->nleft; i++)
		if (x->left[i] != READ)
			x->left[n++] = x->left[i];
	x->nleft = n;
}

/* Asks each node once for the remaining keys. Returns an error, or NULL. */
static const char *
read_nodes(struct readback *x, char why[CLIENT_WHY])
{
	const struct slotmap_node *n = x->map->nodes;
	const char *failed = NULL;
	struct client *c;

	for (; n < x->map->nodes + x->map->n && !*x->stop; n++) {
		c = open_client(x, n->host, n->port, n->unixsocket, why);
		if (!c || read_node(x, n, c, why))
			failed = why;
		client_close(c);
		drop_read(x);
	}
	return failed;
}

/*
 * Reads all remaining keys. In a cluster slots may move, and a primary may be
 * replaced: the slots are read and the rest is asked for again, until nothing
 * more comes within the timeout.
 */
static int
read_all(struct readback *x)
{
	int64_t patience = control_ms(x->target, 0) * INT64_C(1000000);
	int64_t until = clock_ns() + patience;
	const char *failed;
	char why[CLIENT_WHY];
	size_t before;

	for (;;) {
		before = x->nleft;
		failed = read_nodes(x, why);
		if (*x->stop || !x->nleft)
			return *x->stop ? -1 : 0;
		if (x->nleft < before)
			until = clock_ns() + patience;
		if (clock_ns() > until || (failed && !x->target->cluster))
			return err_fail("cannot read back %zu of %zu values "
					"that were written: %s",
			    x->nleft, x->written->n,
			    failed ? failed : "no node has their slots");
		report_progress(x, x->written->n - x->nleft);
		poll(NULL, 0, AGAIN_MS);
		x->map = slotmap_refresh(x->map, x->target, KEYS_SLOTS, NULL);
	}
}

static int
read_stream(struct readback *x, const struct engine_work *w)
{
	struct values *sizes = values_new(w);
	int rc;

	x->nleft = x->written->n;
	x->left = mem_array(x->nleft, sizeof *x->left);
	for (size_t i = 0; i < x->nleft; i++)
		x->left[i] = (uint32_t)i;
	x->checks =
	    (struct checks){.sizes = sizes, .required = x->written->kept};
	rc = read_all(x);
	engine_verified_add(&x->result->verified, &x->checks.found);
	free(x->left);
	values_free(sizes);
	return rc;
}

/* Finds the servers. Returns 0 or -1. */
static int
open_map(struct readback *x)
{
	if (x->map)
		return 0;
	x->map = slotmap_new(x->target, KEYS_SLOTS, NULL, false);
	return x->map ? 0 : -1;
}

int
readback_run(const struct engine_target *t, const struct engine_work *works,
    size_t n, const volatile int *stop, engine_progress_fn *progress, void *arg,
    struct engine_result *results)
{
	static const volatile int never;
	struct readback x = {.target = t,
	    .stop = stop ? stop : &never,
	    .progress = progress,
	    .arg = arg};
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		x.written = results[i].written;
		x.result = &results[i];
		if (!x.written || !x.written->n)
			continue;
		rc = open_map(&x);
		if (rc == 0)
			rc = read_stream(&x, &works[i]);
	}
	slotmap_free(x.map);
	free(x.awaited.bytes);
	return rc;
}

bool
readback_keeps(
    const struct engine_target *t, const struct engine_work *works, size_t n)
{
	struct readback x = {.target = t};
	char why[CLIENT_WHY];
	struct client *c;
	bool kept = true, any = false;

	for (size_t i = 0; i < n; i++) {
		any |= works[i].verify;
		kept = kept && !verify_removes(&works[i]);
	}
	if (!any || !kept)
		return false;
	kept = open_map(&x) == 0;
	for (size_t i = 0; kept && i < x.map->n; i++) {
		c = open_client(&x, x.map->nodes[i].host, x.map->nodes[i].port,
		    x.map->nodes[i].unixsocket, why);
		kept = c && !may_evict(&x, c);
		client_close(c);
	}
	slotmap_free(x.map);
	return kept;
}
