/* The slots of a cluster, and the part of the key space on each node. */
#include "vkb-load/engine/slotmap.h"
#include "answer.h"
#include "tap.h"

#include "err.h"
#include "mem.h"
#include "vkb-load/engine/engine.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/vkb-slotmap.XXXXXX";
static char path[64];
static char tags[KEYS_SLOTS][3];
static struct engine_node node = {
    .host = "asked", .port = 6379, .unixsocket = path};
static struct engine_target target = {
    .nodes = &node, .nnodes = 1, .cluster = true, .timeout_s = 20};

#define RANGE(first, last, port)                                              \
	"*3\r\n:" #first "\r\n:" #last "\r\n*2\r\n$9\r\n127.0.0.1\r\n:" #port \
	"\r\n"

/* The ranges of 7001 are out of order; other slots belong to 7002. */
static const char two[] = "*4\r\n" RANGE(200, 299, 7001) RANGE(0, 99, 7001)
    RANGE(100, 199, 7002) RANGE(300, 16383, 7002);
static const char moved[] =
    "*3\r\n" RANGE(200, 299, 7001) RANGE(0, 199, 7002) RANGE(300, 16383, 7002);
static const char few[] =
    "*2\r\n" RANGE(100, 199, 7001) RANGE(200, 16383, 7002);

static struct slotmap *
ask(const char *answer, struct slotmap *old, uint64_t space)
{
	pid_t pid = answer_first(path, answer);
	const char(*t)[3] = (const char(*)[3])tags;
	struct slotmap *m = old ? slotmap_refresh(old, &target, space, t)
				: slotmap_new(&target, space, t, false);

	waitpid(pid, NULL, 0);
	return m;
}

/* Checks that each number has one node, that of its slot, and one position
 * there. */
static void
covers(const struct slotmap *m, uint64_t space)
{
	char *seen = mem_new(space);
	bool good = true;
	unsigned residue;
	uint64_t v, sum = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct slotmap_node *n = &m->nodes[i];

		sum += n->nkeys;
		good &= n->keys.count == n->nkeys && n->keys.space == space &&
		    n->keys.cluster && n->keys.node == i &&
		    n->keys.owners == m->owners && n->keys.tags[7] == tags[7];
		for (uint64_t at = 0; at < n->keys.count; at++) {
			v = keys_number(&n->keys, at, &residue);
			good = good && v < space && !seen[v] &&
			    residue == v % KEYS_SLOTS &&
			    m->owners[keys_slot(v)] == i;
			if (v < space)
				seen[v] = 1;
		}
	}
	tap_ok(good && sum == space,
	    "each of %llu numbers has a position on the node of its slot",
	    (unsigned long long)space);
	free(seen);
}

static void
maps(void)
{
	struct slotmap *m = ask(two, NULL, 40000);
	const struct slotmap_node *a = slotmap_find(m, "127.0.0.1:7001");
	bool good = true;

	tap_ok(m->n == 2 && a == &m->nodes[0] &&
		slotmap_find(m, "127.0.0.1:7002") == &m->nodes[1] &&
		!slotmap_find(m, "127.0.0.1:7003"),
	    "a node is found by its address");
	tap_ok(a->port == 7001 && strcmp(a->host, "127.0.0.1") == 0 &&
		a->addresses && !a->unixsocket && a->nturns == 200 &&
		m->nodes[1].nturns == KEYS_SLOTS - 200,
	    "a node has its address and the number of its slots");
	for (size_t i = 0; i < 200; i++)
		good &= a->turns[i] == (i < 100 ? i : i + 100);
	for (size_t i = 0; i < KEYS_SLOTS; i++)
		good &= m->owners[i] == (i >= 100 && (i < 200 || i >= 300));
	tap_ok(
	    good, "the slots are in order, whatever the order of the answer");
	good = a->keys.ncollections == KEYS_COLLECTIONS &&
	    m->nodes[1].keys.ncollections == KEYS_COLLECTIONS;
	for (size_t i = 0; i < KEYS_COLLECTIONS; i++)
		good &= a->collections[i].slot == a->turns[i * 200 / 16] &&
		    a->collections[i].part == i;
	tap_ok(good, "the collections of a node are spread over its slots");
	covers(m, 40000);
	slotmap_free(m);
	m = ask(two, NULL, KEYS_SLOTS);
	covers(m, KEYS_SLOTS);
	slotmap_free(m);
	/* The slots of 0, 1 and 2 are 0, 10125 and 3866. */
	m = ask(few, NULL, 3);
	a = &m->nodes[0];
	tap_ok(a->nkeys == 0 && a->keys.count == 1 && a->keys.nlong == 1 &&
		a->keys.nresidues == 1 && keys_slot(a->residues[0]) >= 100 &&
		keys_slot(a->residues[0]) < 200 && a->residues[0] >= 3,
	    "a node without keys has one key outside of the key space");
	tap_ok(m->nodes[1].nkeys == 2 && m->nodes[1].keys.count == 2 &&
		m->nodes[1].residues[0] == 1 && m->nodes[1].residues[1] == 2,
	    "a slot without a node has no keys");
	slotmap_free(m);
}

static void
moves(void)
{
	struct slotmap *m = ask(two, NULL, 40000), *now;
	const struct slotmap_node *a, *b;
	uint64_t keys;
	char *want;
	bool good;

	atomic_store(&m->nodes[0].place, 1000);
	atomic_store(&m->nodes[1].place, 9000);
	tap_ok(ask(two, m, 40000) == m,
	    "if the slots have not changed, the map is the same");
	tap_ok(ask("-ERR no\r\n", m, 40000) == m,
	    "after an error the map is the same");
	now = ask(moved, m, 40000);
	tap_ok(now != m && now->older == m,
	    "if slots have moved, there is a new map");
	a = &now->nodes[0];
	b = &now->nodes[1];
	covers(now, 40000);
	good = a->keys.ncollections == 8 && b->keys.ncollections == 24;
	for (size_t i = 0; good && i < 8; i++)
		good = a->collections[i].part == 8 + i &&
		    a->collections[i].slot ==
			m->nodes[0].turns[100 + i * 200 / 16] &&
		    b->collections[i].part == i &&
		    b->collections[i].slot == m->nodes[0].turns[i * 200 / 16] &&
		    b->collections[8 + i].part == i;
	tap_ok(good, "collections move with their slots");
	/* A quarter of all keys had been used. */
	keys = a->keys.count;
	tap_ok(keys > 200 && atomic_load(&now->nodes[0].place) == keys / 4 &&
		atomic_load(&now->nodes[1].place) == (40000 - keys) / 4,
	    "both nodes continue at the position of all nodes together");
	slotmap_free(now);
	tap_ok(!ask("-ERR no\r\n", NULL, 3),
	    "without slots there is no first map");
	want = mem_printf(
	    "cannot read the slots of the cluster at '%s': ERR no", path);
	tap_str(err_last(), want, "a cluster without slots is reported");
	free(want);
}

static void
plain(void)
{
	static char host[] = "127.0.0.1";
	struct engine_node nodes[2] = {
	    {.host = host, .port = 7}, {.unixsocket = "/a/b"}};
	struct engine_target t = {.nodes = nodes, .nnodes = 2};
	struct slotmap *m = slotmap_new(&t, 50, NULL, false);

	tap_ok(m->n == 2 && strcmp(m->nodes[0].name, "127.0.0.1:7") == 0 &&
		strcmp(m->nodes[1].name, "/a/b") == 0 &&
		m->nodes[0].addresses && !m->nodes[1].addresses &&
		strcmp(m->nodes[1].unixsocket, "/a/b") == 0,
	    "without a cluster the nodes are those of the target");
	tap_ok(m->nodes[0].keys.count == 50 && m->nodes[1].keys.count == 50 &&
		!m->nodes[1].keys.cluster && m->nodes[1].keys.node == 1,
	    "each of them has all keys");
	slotmap_free(m);
	t.nnodes = 0;
	tap_ok(!slotmap_new(&t, 50, NULL, false),
	    "a target without nodes has no map");
}

int
main(void)
{
	bool good = true;

	if (!mkdtemp(dir) || !freopen("/dev/null", "w", stderr))
		return 2;
	signal(SIGPIPE, SIG_IGN);
	snprintf(path, sizeof path, "%s/socket", dir);
	keys_fill_tags(tags);
	tap_ok(memcmp(tags[KEYS_SLOTS - 1], "000", 3) != 0 && tags[0][0],
	    "each slot has a tag");
	for (unsigned i = 0; i < KEYS_SLOTS; i++)
		good &= keys_slot(keys_residue(i)) == i;
	tap_ok(good, "each slot has a residue whose numbers lie in it");
	maps();
	moves();
	plain();
	unlink(path);
	rmdir(dir);
	return tap_done();
}
