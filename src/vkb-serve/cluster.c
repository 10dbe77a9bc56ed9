#include "cluster.h"
#include "node.h"
#include "spec.h"

#include "client.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "str.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { SLOTS = 16384, CALL_MS = 5000, TELL_NS = 400000000 };

struct form {
	const struct spec *spec;
	struct node *node;
	size_t n, primaries;
	char **id;     /* of each node */
	char **level;  /* log level of each node before toggle_log_level */
	bool *settled; /* node has forgotten its placeholders */
	cluster_wait *wait;
	void *arg;
	struct str *why;
};

/* Sets *why to the reason why node i refused a command. Returns -1. */
static int
set_refusal(struct form *f, size_t i, const char *a, const char *b,
    const struct reply *r)
{
	char *what = mem_printf("%s %s", a, b);

	str_clear(f->why);
	node_append_refusal(&f->node[i], what, r, f->why);
	free(what);
	return -1;
}

/* Sends a command; any reply but OK is an error. */
static int
send_command(struct form *f, size_t i, const char *const *argv)
{
	struct reply *r = client_call(f->node[i].client, CALL_MS, argv);
	int rc = 0;

	if (!r || !reply_is(r, "OK"))
		rc = set_refusal(f, i, argv[0], argv[1], r);
	reply_free(r);
	return rc;
}
#define COMMAND(f, i, ...) \
	send_command(f, i, (const char *const[]){__VA_ARGS__, NULL})

/* Returns the text reply to a command, or NULL with *why set. */
static struct reply *
ask_text(struct form *f, size_t i, const char *a, const char *b)
{
	struct reply *r = CLIENT_CALL(f->node[i].client, CALL_MS, a, b);

	if (r && reply_type(r) == REPLY_TEXT)
		return r;
	set_refusal(f, i, a, b, r);
	reply_free(r);
	return NULL;
}

static int
read_node_id(struct form *f, size_t i)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "MYID");

	f->id[i] = r ? mem_str(reply_text(r)) : NULL;
	reply_free(r);
	return f->id[i] ? 0 : -1;
}

/* Makes node i meet all nodes from 'first' on, instead of waiting for gossip.
 */
static int
meet_nodes(struct form *f, size_t i, size_t first)
{
	const char *host = spec_connect_host(f->spec);
	char port[16];

	for (size_t k = first; k < f->n; k++) {
		snprintf(port, sizeof port, "%d", f->node[k].port);
		if (k != i && COMMAND(f, i, "CLUSTER", "MEET", host, port) < 0)
			return -1;
	}
	return 0;
}

static size_t
count_occurrences(const char *s, const char *what)
{
	size_t n = 0;

	for (; (s = strstr(s, what)); s += strlen(what))
		n++;
	return n;
}

static bool
is_info_value(const struct reply *r, const char *field, long long want)
{
	char *s = reply_info(r, field);
	bool is = s && atoll(s) == want;

	free(s);
	return is;
}

/* Copies the line of CLUSTER NODES about 'id' to buf, or "". */
static void
find_node_line(const char *nodes, const char *id, char *buf, size_t size)
{
	const char *s = strstr(nodes, id);

	/* Inside a line the id is the primary of another node. */
	while (s && s != nodes && s[-1] != '\n')
		s = strstr(s + 1, id);
	snprintf(buf, size, "%.*s", s ? (int)strcspn(s, "\n") : 0, s);
}

/* Returns 1 if node i is connected to the first n nodes and, with 'slots',
 * knows which slots they have; 0 if not yet, -1 on error. */
static int
are_connected(struct form *f, size_t i, size_t n, bool slots)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "NODES");
	const char *state = slots ? " connected " : " connected", *s;
	char line[512];
	int rc = 1;

	if (!r)
		return -1;
	for (size_t k = 0; k < n && rc; k++) {
		find_node_line(reply_text(r), f->id[k], line, sizeof line);
		s = strstr(line, state);
		rc = s && (!slots || s[strlen(state)]);
	}
	if (!slots && strstr(reply_text(r), "handshake"))
		rc = 0;
	reply_free(r);
	return rc;
}

static int
is_connected_to_all(struct form *f, size_t i)
{
	return are_connected(f, i, f->n, false);
}

/* Formats the id of a placeholder of node i: the owner of the slots that the
 * node will take ('own'), or of all others. */
static void
format_placeholder_id(char id[41], size_t i, bool own)
{
	snprintf(id, 41, "%040zx", 2 * i + (own ? 1 : 2));
}

/*
 * Makes node i forget the placeholders if the primaries have all slots. Returns
 * 1 if done, 0 if not yet, -1 on error.
 */
static int
forget_placeholders(struct form *f, size_t i)
{
	char id[41];
	int rc;

	if (f->settled[i])
		return 1;
	rc = are_connected(f, i, f->primaries, true);
	/* Gossip may have brought placeholders of other nodes; unknown ids are
	 * an error that does not matter. */
	for (size_t k = 0; k < 2 * f->primaries && rc == 1; k++) {
		format_placeholder_id(id, k / 2, k % 2);
		reply_free(CLIENT_CALL(
		    f->node[i].client, CALL_MS, "CLUSTER", "FORGET", id));
	}
	f->settled[i] = rc == 1;
	return rc;
}

/* Returns 1 if node i knows the role of every replica, 0 or -1. */
static int
knows_all_replicas(struct form *f, size_t i)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "NODES");
	const char *s;
	int rc;

	if (!r)
		return -1;
	s = reply_text(r);
	rc = count_occurrences(s, " slave ") +
		count_occurrences(s, "myself,slave ") ==
	    f->n - f->primaries;
	reply_free(r);
	return rc;
}

static int
is_state_ok(struct form *f, size_t i)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "INFO");
	char *state = r ? reply_info(r, "cluster_state") : NULL;
	int rc = r ? 0 : -1;

	if (state && strcmp(state, "ok") == 0)
		rc = is_info_value(r, "cluster_slots_assigned", SLOTS) &&
		    is_info_value(r, "cluster_slots_ok", SLOTS) &&
		    is_info_value(r, "cluster_known_nodes", (long long)f->n) &&
		    is_info_value(r, "cluster_size", (long long)f->primaries);
	free(state);
	reply_free(r);
	return rc;
}

/* Returns 1 if the replica is in sync, or the primary has all its replicas; 0
 * if not yet; -1 on error. */
static int
is_replicating(struct form *f, size_t i)
{
	struct reply *r = ask_text(f, i, "INFO", "replication");
	char *link = r ? reply_info(r, "master_link_status") : NULL;
	int rc = !r ? -1
	    : i < f->primaries
	    ? is_info_value(r, "connected_slaves", f->spec->replicas)
	    : link && strcmp(link, "up") == 0;

	free(link);
	reply_free(r);
	return rc;
}

/* Returns 1 if node i is complete, 0 if not yet, -1 on error. */
static int
is_settled(struct form *f, size_t i)
{
	int rc = forget_placeholders(f, i);

	if (rc == 1)
		rc = knows_all_replicas(f, i);
	if (rc == 1) {
		rc = is_state_ok(f, i);
		f->settled[i] = rc == 1; /* gossip can bring one back */
	}
	if (rc == 1 && f->spec->replicas)
		rc = is_replicating(f, i);
	return rc;
}

/*
 * Waits until 'holds' returns 1 for all nodes. With 'tell' the nodes meet again
 * every TELL_NS: versions that do not announce a change of role (Redis 7.0)
 * send it with a ping per second otherwise.
 */
static int
wait_until_all(struct form *f, int (*holds)(struct form *, size_t), bool tell)
{
	int64_t late = clock_ns() + TELL_NS;
	size_t good;
	int rc;

	for (;;) {
		good = 0;
		for (size_t i = 0; i < f->n; i++) {
			rc = holds(f, i);
			if (rc < 0)
				return -1;
			good += rc == 1;
		}
		if (good == f->n)
			return 0;
		if (f->wait(f->arg, f->why) < 0)
			return -1;
		if (!tell || clock_ns() < late)
			continue;
		for (size_t i = 0; i < f->n; i++)
			if (meet_nodes(f, i, 0) < 0)
				return -1;
		late = clock_ns() + TELL_NS;
	}
}

static long long
read_epoch(struct form *f, size_t i, const char *field)
{
	struct reply *r = ask_text(f, i, "CLUSTER", "INFO");
	char *s = r ? reply_info(r, field) : NULL;
	long long v = s ? atoll(s) : -1;

	free(s);
	reply_free(r);
	return v;
}

/* Takes over one after the other, so that each gets its own epoch. */
static int
take_over_slots(struct form *f)
{
	long long last = 0, now;

	for (size_t i = 0; i < f->primaries; i++) {
		while ((now = read_epoch(f, i, "cluster_current_epoch")) < last)
			if (now < 0 || f->wait(f->arg, f->why) < 0)
				return -1;
		if (COMMAND(f, i, "CLUSTER", "FAILOVER", "TAKEOVER") < 0)
			return -1;
		last = read_epoch(f, i, "cluster_my_epoch");
		if (last < 0)
			return -1;
	}
	for (size_t i = f->primaries; i < f->n; i++)
		if (COMMAND(f, i, "CLUSTER", "REPLICATE",
			f->id[(i - f->primaries) % f->primaries]) < 0)
			return -1;
	return 0;
}

/*
 * Sets the log level to warning and saves the old one in *level; if *level is
 * set, restores it. Some versions log each of the 16384 slots that leave a
 * placeholder.
 */
static int
toggle_log_level(struct form *f, size_t i, char **level)
{
	struct reply *r;
	int rc;

	if (*level)
		return COMMAND(f, i, "CONFIG", "SET", "loglevel", *level);
	r = CLIENT_CALL(
	    f->node[i].client, CALL_MS, "CONFIG", "GET", "loglevel");
	if (!r || reply_len(r) != 2) {
		rc = set_refusal(f, i, "CONFIG", "GET", r);
	} else {
		*level = mem_str(reply_text(reply_at(r, 1)));
		rc = COMMAND(f, i, "CONFIG", "SET", "loglevel", "warning");
	}
	reply_free(r);
	return rc;
}

static int
form_cluster(struct form *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (read_node_id(f, i) < 0 || meet_nodes(f, i, i + 1) < 0 ||
		    toggle_log_level(f, i, &f->level[i]) < 0)
			return -1;
	/* Twice: gossip can still change a node after it was asked first. */
	if (wait_until_all(f, is_connected_to_all, false) < 0 ||
	    take_over_slots(f) < 0 || wait_until_all(f, is_settled, true) < 0 ||
	    wait_until_all(f, is_settled, true) < 0)
		return -1;
	for (size_t i = 0; i < f->n; i++)
		if (toggle_log_level(f, i, &f->level[i]) < 0)
			return -1;
	return 0;
}

int
cluster_form(const struct spec *s, struct node *node, size_t n,
    cluster_wait *wait, void *arg, struct str *why)
{
	struct form f = {.spec = s,
	    .node = node,
	    .n = n,
	    .primaries = (size_t)s->primaries,
	    .wait = wait,
	    .arg = arg,
	    .why = why};
	int rc;

	f.id = mem_array(n, sizeof *f.id);
	f.level = mem_array(n, sizeof *f.level);
	f.settled = mem_array(n, sizeof *f.settled);
	rc = form_cluster(&f);
	for (size_t i = 0; i < n; i++) {
		free(f.id[i]);
		free(f.level[i]);
	}
	free(f.id);
	free(f.level);
	free(f.settled);
	return rc;
}

int
cluster_write_seed(
    const struct spec *s, size_t i, const char *dir, struct str *why)
{
	size_t primaries = (size_t)s->primaries;
	size_t first = i * SLOTS / primaries;
	size_t last = (i + 1) * SLOTS / primaries - 1;
	char own[41], rest[41], self[41];
	unsigned char random[20];
	struct str text = {0};
	char *path;
	int rc;

	if (i >= primaries)
		return 0; /* replicas need no nodes.conf */
	if (getrandom(random, sizeof random, 0) != sizeof random)
		err_die("cannot get random numbers");
	for (size_t k = 0; k < sizeof random; k++)
		snprintf(self + 2 * k, 3, "%02x", random[k]);
	format_placeholder_id(own, i, true);
	format_placeholder_id(rest, i, false);
	str_printf(&text,
	    "%s :0@0 myself,slave %s 0 0 0 connected\n"
	    "%s :0@0 master - 0 0 0 connected %zu-%zu\n",
	    self, own, own, first, last);
	if (primaries > 1)
		str_printf(&text, "%s :0@0 master - 0 0 0 connected", rest);
	if (first > 0)
		str_printf(&text, " 0-%zu", first - 1);
	if (last < SLOTS - 1)
		str_printf(&text, " %zu-%d", last + 1, SLOTS - 1);
	str_printf(&text, "%svars currentEpoch 0 lastVoteEpoch 0\n",
	    primaries > 1 ? "\n" : "");
	path = mem_printf("%s/nodes.conf", dir);
	rc = node_write_file(path, &text, why);
	str_free(&text);
	free(path);
	return rc;
}
