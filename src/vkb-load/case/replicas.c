#include "replicas.h"
#include "client.h"
#include "clock.h"
#include "engines.h"
#include "err.h"
#include "json.h"
#include "measure.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 20

/* Do all commands of a stream only read? Sets *some if one does. */
static bool
check_work(const struct target *t, struct client *c,
    const struct engine_work *w, bool *some)
{
	bool all = true, one;

	for (size_t i = 0; i < engine_count_commands(w); i++) {
		one = control_text_only_reads(
		    c, control_ms(&t->e, 0), engine_command(w, i));
		all &= one;
		*some |= one;
	}
	return all;
}

int
replicas_choose(struct measure *m, struct target *t)
{
	struct engine_work *w;
	bool any = false, some = false;
	struct client *c;
	int rc = 0;

	if (!m->cas->load.read_replicas)
		return 0;
	c = target_client(t, 0);
	if (!c)
		return -1;
	for (size_t i = 0; i < m->roles.nworks && rc == 0; i++) {
		w = &m->roles.works[i];
		some = false;
		w->conns.replicas = check_work(t, c, w, &some);
		any |= w->conns.replicas;
		if (w->nmix && some && !w->conns.replicas)
			rc = err_fail("'read_from': the mix reads and writes "
				      "over the same connections: make it a "
				      "mixed scenario, whose 'reads' have "
				      "connections of their own");
	}
	if (rc == 0 && !any)
		rc = err_fail("'read_from': no command of the case only "
			      "reads, so none goes to replicas");
	if (any)
		target_use_replicas(t);
	client_close(c);
	return rc;
}

/* Returns the offset that all replicas of a primary have; -1: one is not
 * connected. Without replicas there is nothing to wait for. */
static long long
find_least_offset(const struct reply *info)
{
	long long least = LLONG_MAX, v;
	double n = reply_info_number(info, "connected_slaves");
	char name[32], *text;
	const char *at;

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "slave%d", i);
		text = reply_info(info, name);
		at = text && strstr(text, "state=online")
		    ? strstr(text, "offset=")
		    : NULL;
		v = at ? atoll(at + strlen("offset=")) : -1;
		free(text);
		if (v < 0)
			return -1;
		least = v < least ? v : least;
	}
	return least;
}

struct waiting {
	const volatile int *stop;
	int64_t deadline;
	double least;    /* replicas of each primary */
	size_t replicas; /* found so far */
};

/* Sleeps a little. Returns false if the run is to stop, or after reporting that
 * it took too long; 'what' has not happened. */
static bool
wait_more(
    const struct target *t, size_t i, const struct waiting *w, const char *what)
{
	if (*w->stop)
		return false;
	if (clock_ns() > w->deadline) {
		err_fail("'read_from': %s of %s:%d within %d s", what,
		    t->nodes[i].host, t->nodes[i].port,
		    control_ms(&t->e, 0) / 1000);
		return false;
	}
	poll(NULL, 0, LOOK_MS);
	return true;
}

/* Waits until the replicas of a primary are there and have all of its data. */
static int
wait_for_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	struct waiting *w = arg;
	double want = -1, n;
	struct reply *r;
	bool done;

	do {
		r = CONTROL_ASK(c, control_ms(&t->e, 0), "INFO", "replication");
		if (!r)
			return -1;
		if (want < 0)
			want = reply_info_number(r, "master_repl_offset");
		n = reply_info_number(r, "connected_slaves");
		done = n >= w->least && (double)find_least_offset(r) >= want;
		reply_free(r);
		if (done)
			w->replicas += n > 0 ? (size_t)n : 0;
	} while (!done &&
	    wait_more(t, i, w, "not all data has got to the replicas"));
	return done ? 0 : -1;
}

/* Returns how many replicas the slots of a cluster have. */
static size_t
count_replicas(const struct control_slots *s)
{
	size_t n = 0, j;

	for (size_t i = 0; i < s->n; i++) {
		for (j = 0; j < i; j++)
			if (s->v[j].port == s->v[i].port &&
			    strcmp(s->v[j].host, s->v[i].host) == 0)
				break;
		if (j == i)
			n += s->v[i].nreplicas;
	}
	return n;
}

/* Waits until the first node of a cluster knows the replicas of all. */
static int
wait_for_slots(const struct target *t, struct waiting *w)
{
	struct client *c = target_client(t, 0);
	struct control_slots s;
	bool done = false;
	const char *wrong;

	if (!c)
		return -1;
	do {
		wrong = control_slots(
		    &s, c, control_ms(&t->e, 0), t->nodes[0].host);
		done = wrong || count_replicas(&s) >= w->replicas;
		if (wrong)
			err_fail("CLUSTER SLOTS: %s", wrong);
		control_slots_free(&s);
	} while (!done &&
	    wait_more(t, 0, w, "not all replicas are in the CLUSTER SLOTS"));
	client_close(c);
	return done && !wrong ? 0 : -1;
}

int
replicas_wait(const struct engine_job *j, const struct engine_work *w)
{
	const struct target *t = j->target;
	struct waiting x = {.stop = j->stop,
	    .deadline = clock_ns() + control_ms(&t->e, 0) * INT64_C(1000000),
	    .least = json_get_num(
		json_get(j->cas, "config"), "cluster_replicas", 0)};

	for (size_t i = 0; i < j->nwork; i++) {
		if (!w[i].conns.replicas)
			continue;
		if (target_each(t, wait_for_node, &x) < 0)
			return -1;
		return t->e.cluster ? wait_for_slots(t, &x) : 0;
	}
	return 0;
}
