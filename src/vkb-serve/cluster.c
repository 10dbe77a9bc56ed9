#include "cluster.h"
#include "node.h"
#include "spec.h"

#include "client.h"
#include "mem.h"
#include "str.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16384, CALL_MS = 5000 };

struct form {
	const struct spec *spec;
	struct node *node;
	size_t n, primaries;
	char **id;       /* of each node */
	bool *following; /* has it been told whom to replicate? */
	struct str *why;
};

static int
blame(struct form *f, size_t i, const char *what, const struct reply *r)
{
	str_clear(f->why);
	str_printf(
	    f->why, "node %zu (port %d): %s: ", i + 1, f->node[i].port, what);
	str_visible(f->why,
	    r && reply_text(r) ? reply_text(r)
			       : client_error(f->node[i].client));
	return -1;
}

/* A command that is answered with OK. */
static int
command(struct form *f, size_t i, const char *const *argv)
{
	struct reply *r = client_call(f->node[i].client, CALL_MS, argv);
	char *what;
	int rc = 0;

	if (!r || !reply_is(r, "OK")) {
		what = mem_printf("%s %s", argv[0], argv[1]);
		rc = blame(f, i, what, r);
		free(what);
	}
	reply_free(r);
	return rc;
}
#define COMMAND(f, i, ...) \
	command(f, i, (const char *const[]){__VA_ARGS__, NULL})

static int
learn_id(struct form *f, size_t i)
{
	struct reply *r =
	    CLIENT_CALL(f->node[i].client, CALL_MS, "CLUSTER", "MYID");
	int rc = 0;

	if (r && reply_type(r) == REPLY_TEXT)
		f->id[i] = mem_str(reply_text(r));
	else
		rc = blame(f, i, "CLUSTER MYID", r);
	reply_free(r);
	return rc;
}

static int
give_slots(struct form *f, size_t i)
{
	char first[24], last[24];

	snprintf(first, sizeof first, "%zu", i * SLOTS / f->primaries);
	snprintf(last, sizeof last, "%zu", (i + 1) * SLOTS / f->primaries - 1);
	return COMMAND(f, i, "CLUSTER", "ADDSLOTSRANGE", first, last);
}

/* Each pair meets at once, so that nothing waits for gossip. */
static int
meet(struct form *f, size_t i)
{
	const char *host = spec_reach(f->spec);
	char epoch[24], port[16];

	snprintf(epoch, sizeof epoch, "%zu", i + 1);
	if (COMMAND(f, i, "CLUSTER", "SET-CONFIG-EPOCH", epoch) < 0)
		return -1;
	for (size_t k = i + 1; k < f->n; k++) {
		snprintf(port, sizeof port, "%d", f->node[k].port);
		if (COMMAND(f, i, "CLUSTER", "MEET", host, port) < 0)
			return -1;
	}
	return 0;
}

static size_t
occurs(const char *s, const char *what)
{
	size_t n = 0;

	for (; (s = strstr(s, what)); s += strlen(what))
		n++;
	return n;
}

static bool
info_is(const struct reply *r, const char *field, long long want)
{
	char *s = reply_info(r, field);
	bool is = s && atoll(s) == want;

	free(s);
	return is;
}

/* Does node i know everybody, by name? Replicas are told whom to follow. */
static int
acquainted(struct form *f, size_t i)
{
	struct reply *r =
	    CLIENT_CALL(f->node[i].client, CALL_MS, "CLUSTER", "NODES");
	const char *s, *primary;
	int rc = 1;

	if (!r || reply_type(r) != REPLY_TEXT) {
		rc = blame(f, i, "CLUSTER NODES", r);
		goto out;
	}
	s = reply_text(r);
	if (i >= f->primaries && !f->following[i]) {
		primary = f->id[(i - f->primaries) % f->primaries];
		rc = 0;
		if (strstr(s, primary) && !strstr(s, "handshake")) {
			f->following[i] = true;
			if (COMMAND(f, i, "CLUSTER", "REPLICATE", primary) < 0)
				rc = -1;
		}
		goto out;
	}
	for (size_t k = 0; k < f->n && rc; k++)
		rc = strstr(s, f->id[k]) != NULL;
	if (strstr(s, "handshake") ||
	    occurs(s, " slave ") + occurs(s, "myself,slave ") !=
		f->n - f->primaries)
		rc = 0;
out:
	reply_free(r);
	return rc;
}

static int
state_ok(struct form *f, size_t i)
{
	struct reply *r =
	    CLIENT_CALL(f->node[i].client, CALL_MS, "CLUSTER", "INFO");
	char *state;
	int rc;

	if (!r || reply_type(r) != REPLY_TEXT) {
		rc = blame(f, i, "CLUSTER INFO", r);
		reply_free(r);
		return rc;
	}
	state = reply_info(r, "cluster_state");
	rc = state && strcmp(state, "ok") == 0 &&
	    info_is(r, "cluster_slots_assigned", SLOTS) &&
	    info_is(r, "cluster_slots_ok", SLOTS) &&
	    info_is(r, "cluster_known_nodes", (long long)f->n) &&
	    info_is(r, "cluster_size", (long long)f->primaries);
	free(state);
	reply_free(r);
	return rc;
}

/* Has the replica caught up? Has the primary all of its replicas? */
static int
replicating(struct form *f, size_t i)
{
	struct reply *r =
	    CLIENT_CALL(f->node[i].client, CALL_MS, "INFO", "replication");
	char *link = NULL;
	int rc;

	if (!r || reply_type(r) != REPLY_TEXT)
		rc = blame(f, i, "INFO replication", r);
	else if (i < f->primaries)
		rc = info_is(r, "connected_slaves", f->spec->replicas);
	else {
		link = reply_info(r, "master_link_status");
		rc = link && strcmp(link, "up") == 0;
	}
	free(link);
	reply_free(r);
	return rc;
}

/* 1 node i has nothing to wait for; 0 not yet; -1. */
static int
settled(struct form *f, size_t i)
{
	int rc = acquainted(f, i);

	if (rc == 1)
		rc = state_ok(f, i);
	if (rc == 1 && f->spec->replicas)
		rc = replicating(f, i);
	return rc;
}

static int
form(struct form *f, cluster_wait *wait, void *arg)
{
	size_t good;
	int rc;

	for (size_t i = 0; i < f->n; i++)
		if (learn_id(f, i) < 0 ||
		    (i < f->primaries && give_slots(f, i) < 0))
			return -1;
	for (size_t i = 0; i < f->n; i++)
		if (meet(f, i) < 0)
			return -1;
	for (;;) {
		good = 0;
		for (size_t i = 0; i < f->n; i++) {
			rc = settled(f, i);
			if (rc < 0)
				return -1;
			good += rc == 1;
		}
		if (good == f->n)
			return 0;
		if (wait(arg, f->why) < 0)
			return -1;
	}
}

int
cluster_form(const struct spec *s, struct node *node, size_t n,
    cluster_wait *wait, void *arg, struct str *why)
{
	struct form f = {.spec = s,
	    .node = node,
	    .n = n,
	    .primaries = (size_t)s->primaries,
	    .why = why};
	int rc;

	f.id = mem_array(n, sizeof *f.id);
	f.following = mem_array(n, sizeof *f.following);
	rc = form(&f, wait, arg);
	for (size_t i = 0; i < n; i++)
		free(f.id[i]);
	free(f.id);
	free(f.following);
	return rc;
}
