/* Closed loop: when clients send, one batch each, and to which node. */
#include "tap.h"

#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/pools.h"
#include "vkb-load/engine/run.h"
#include "vkb-load/engine/slotmap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct pacing *closed_loop;

/* Sends requests of one byte, which names the node. */
static uint32_t
make_bytes(const struct cmdsource *s, struct cursor *c, const struct keys *k,
    char *buf, uint32_t n, size_t full, size_t *len)
{
	(void)s;
	(void)c;
	(void)full;
	memset(buf, 'a' + k->node, n);
	*len = n;
	return n;
}

static const struct cmdsource_ops ops = {.make = make_bytes};
static const char one[] = "x";
static const struct cmdsource bytes = {.ops = &ops, .end = one + 1, .len = 1};

/*
 * A cluster of three nodes, with a connection to each for each of 20 clients;
 * all connections write to the same socket.
 */
struct cluster {
	struct run run;
	struct worker w;
	struct slotmap map;
	struct slotmap_node nodes[3];
	struct conn conns[60], *all[60], *rings[60];
	struct pool pools[3];
	char batch[8];
	int fds[2];
};

static struct cluster *
start_cluster(size_t clients, uint32_t pipeline)
{
	static const struct engine_work work = {.clients = 20};
	struct cluster *k = calloc(1, sizeof *k);

	if (!k || socketpair(AF_UNIX, SOCK_STREAM, 0, k->fds) < 0)
		abort();
	k->run = (struct run){.together = 1,
	    .source = &bytes,
	    .arrivals = arrivals_find(&work),
	    .work = &work,
	    .chooser = &chooser_uniform,
	    .requests = RUN_ENDLESS,
	    .pipeline = pipeline,
	    .by_key = true,
	    .t1 = INT64_MAX};
	k->map = (struct slotmap){.nodes = k->nodes, .n = 3};
	k->w = (struct worker){.run = &k->run,
	    .map = &k->map,
	    .pools = k->pools,
	    .npools = 3,
	    .conns = k->all,
	    .nconns = 3 * clients,
	    .nclients = clients,
	    .batch = k->batch};
	rng_seed(&k->w.rng, 5, 0);
	for (size_t i = 0; i < 3; i++) {
		k->nodes[i].keys.node = (uint16_t)i;
		k->pools[i] = (struct pool){.conns = &k->all[i * clients],
		    .idle = &k->rings[i * clients],
		    .nconns = clients,
		    .until = i + 1};
	}
	for (size_t i = 0; i < 3 * clients; i++) {
		k->all[i] = &k->conns[i];
		k->conns[i] = (struct conn){.fd = k->fds[0],
		    .state = CONN_READY,
		    .loop = &k->w.loop,
		    .worker = &k->w,
		    .node = &k->nodes[i / clients],
		    .pool = (uint32_t)(i / clients)};
	}
	return k;
}

static void
stop_cluster(struct cluster *k)
{
	close(k->fds[0]);
	close(k->fds[1]);
	free(k);
}

/* Returns how many bytes were sent to the nodes; these are a text in s. */
static int
read_sent(const struct cluster *k, char *s, size_t size)
{
	ssize_t n = recv(k->fds[1], s, size - 1, MSG_DONTWAIT);

	s[n > 0 ? n : 0] = '\0';
	return n > 0 ? (int)n : 0;
}

/*
 * Two clients of a cluster with three nodes. When a slice begins all six
 * connections are idle, and the first client that sends may use any of them.
 */
static void
clients(void)
{
	struct cluster *k = start_cluster(2, 1);
	char s[64];
	int sent, most = 0;

	for (int slice = 0; slice < 20; slice++) {
		for (size_t i = 0; i < 6; i++) {
			k->conns[i].awaited = 0;
			pools_add_idle(&k->w, &k->conns[i]);
		}
		pools_begin(&k->w);
		for (size_t i = 0; i < 6; i++) {
			pools_release(&k->w, &k->conns[i]);
			pools_serve(&k->w, 0);
		}
		sent = read_sent(k, s, sizeof s);
		most = sent > most ? sent : most;
	}
	tap_ok(most == 2,
	    "at the begin of a slice a client has one batch in flight: %d of 2",
	    most);
	stop_cluster(k);
}

/* 20 clients of three nodes send after all of them have read. */
static void
turns(void)
{
	struct cluster *k = start_cluster(20, 10);
	char s[512];
	size_t changes = 0;

	pools_begin(&k->w);
	for (size_t i = 0; i < 60; i++)
		closed_loop->idle(&k->w, &k->conns[i], 0);
	tap_ok(read_sent(k, s, sizeof s) == 0,
	    "in a cluster nothing is sent before all replies are read");
	closed_loop->dispatch(&k->w, 0);
	tap_ok(read_sent(k, s, sizeof s) == 200, "then each client sends");
	for (size_t i = 1; s[0] && s[i]; i++)
		changes += s[i] != s[i - 1];
	tap_ok(changes == 2, "to one node after the other: %s", s);
	stop_cluster(k);
}

/* The same without a cluster: all connections are to the first node. */
static void
turns_of_one(bool tls, uint32_t pipeline, int first, int then)
{
	struct cluster *k = start_cluster(20, pipeline);
	char s[512];

	k->run.by_key = false;
	if (tls) /* only whether it is there is asked */
		k->run.setup.tls = (struct tls_context *)k;
	k->w.npools = 1;
	for (size_t i = 0; i < 20; i++)
		closed_loop->idle(&k->w, &k->conns[i], 0);
	k->conns[3].nredirected = 1;
	tap_ok(read_sent(k, s, sizeof s) == first,
	    "%s, pipeline %u: %d requests are sent while replies are read",
	    tls ? "TLS" : "plain", pipeline, first);
	closed_loop->dispatch(&k->w, 0);
	tap_ok(read_sent(k, s, sizeof s) == then,
	    "then %d, and none where a redirected one is awaited", then);
	stop_cluster(k);
}

/*
 * Two clients wait for a node that is away. When one connection to it comes
 * back, one of them sends; that connection then breaks when its reply was read.
 */
static void
breaks(void)
{
	struct cluster *k = start_cluster(2, 1);
	char s[64];

	k->nodes[0].nkeys = 1; /* all keys are on the first node */
	k->pools[1].until = k->pools[2].until = k->pools[0].until;
	for (size_t i = 0; i < 2; i++)
		k->conns[i].state = CONN_CONNECTING;
	pools_begin(&k->w);
	for (size_t i = 2; i < 6; i++)
		closed_loop->idle(&k->w, &k->conns[i], 0);
	closed_loop->dispatch(&k->w, 0);
	tap_ok(read_sent(k, s, sizeof s) == 0,
	    "clients wait for a node without a connection");
	k->conns[0].state = CONN_READY;
	closed_loop->idle(&k->w, &k->conns[0], 0);
	closed_loop->dispatch(&k->w, 0);
	tap_ok(read_sent(k, s, sizeof s) == 1 && *s == 'a',
	    "one of them sends on the first connection: %s", s);
	k->conns[0].awaited = 0;
	closed_loop->idle(&k->w, &k->conns[0], 0);
	k->conns[0].state = CONN_DOWN;
	closed_loop->dispatch(&k->w, 0);
	tap_ok(read_sent(k, s, sizeof s) == 0,
	    "nothing is sent on one that broke after its reply was read");
	for (size_t i = 0; i < 2; i++) {
		k->conns[i].state = CONN_READY;
		closed_loop->idle(&k->w, &k->conns[i], 0);
	}
	closed_loop->dispatch(&k->w, 0);
	closed_loop->dispatch(&k->w, 0);
	tap_ok(read_sent(k, s, sizeof s) == 2,
	    "when both are back, both clients send, once: %s", s);
	stop_cluster(k);
}

/* The last request was answered: the thread is done at once, not at a tick. */
static void
ends(bool by_key)
{
	struct cluster *k = start_cluster(2, 1);
	struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER};
	char s[64];
	int sent = 0, n;

	k->run.gate = &gate;
	k->run.workers = &k->w;
	k->run.nworkers = 1;
	k->run.requests = 5;
	k->run.by_key = by_key;
	if (!by_key)
		k->w.npools = 1;
	pools_begin(&k->w);
	for (size_t i = 0; i < (by_key ? 6 : 2); i++)
		closed_loop->idle(&k->w, &k->conns[i], 0);
	closed_loop->dispatch(&k->w, 0);
	while ((n = read_sent(k, s, sizeof s)) && !closed_loop->done(&k->w)) {
		sent += n;
		for (size_t i = 0; i < 6; i++)
			if (k->conns[i].awaited) {
				k->conns[i].awaited = 0;
				k->w.loop.busy--;
				closed_loop->idle(&k->w, &k->conns[i], 0);
			}
		closed_loop->dispatch(&k->w, 0);
	}
	tap_ok(sent == 5 && closed_loop->done(&k->w),
	    "%s: after %d of 5 requests the thread is done",
	    by_key ? "in a cluster" : "without one", sent);
	stop_cluster(k);
}

int
main(void)
{
	closed_loop = arrivals_find(&(struct engine_work){.rate = 0})->pacing;
	clients();
	turns();
	turns_of_one(true, 1, 0, 19);
	turns_of_one(true, 2, 40, 0);
	turns_of_one(false, 1, 20, 0);
	breaks();
	ends(true);
	ends(false);
	return tap_done();
}
