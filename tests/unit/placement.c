#include "cpulist.h"
#include "folder.h"
#include "json.h"
#include "mem.h"
#include "placement.h"
#include "str.h"
#include "tap.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A machine: CPU i is hardware thread i / cores of core i % cores; 'l3' cores
 * share a cache, 'node' cores are a NUMA node.
 */
struct made {
	int cpus, cores, l3, node;
	const char *allowed, *isolated, *interrupts; /* NULL: all, none */
};

static bool
is_in(const char *list, int cpu, bool absent)
{
	const char *why;
	cpu_set_t set;

	if (!list)
		return absent;
	return cpulist_parse(list, &set, &why) == 0 && CPU_ISSET(cpu, &set);
}

static struct topology
make_topology(const struct made *m)
{
	struct topology t = {.n = (size_t)m->cpus};

	t.v = mem_array(t.n + 1, sizeof *t.v);
	for (int i = 0; i < m->cpus; i++) {
		int core = i % m->cores;

		t.v[i] = (struct topology_cpu){.cpu = i,
		    .core = core,
		    .cache = core / m->l3 * m->l3,
		    .node = core / m->node,
		    .isolated = is_in(m->isolated, i, false),
		    .interrupts = is_in(m->interrupts, i, false),
		    .allowed = is_in(m->allowed, i, true)};
	}
	return t;
}

/* Returns "OWN: server, server | clients" as text; caller frees. */
static char *
choose(const struct made *m, struct placement_demand d, const char *busy)
{
	static const char *const names[] = {"own", "shared", "few", "none"};
	struct topology t = make_topology(m);
	struct str s = {0};
	enum placement_result r;
	struct placement p;
	const char *why;
	cpu_set_t set;
	char *list;

	if (busy && cpulist_parse(busy, &set, &why) == 0)
		d.busy = &set;
	r = placement_choose(&p, &t, &d);
	str_printf(&s, "%s:", names[r]);
	if (r == PLACEMENT_OWN || r == PLACEMENT_SHARED) {
		for (size_t i = 0; i < d.servers; i++) {
			list = cpulist_text(&p.servers[i]);
			str_printf(&s, " %s", list);
			free(list);
		}
		list = cpulist_text(&p.clients);
		str_printf(&s, " | %s", list);
		free(list);
		placement_free(&p);
	}
	placement_free_cpus(&t);
	return str_take(&s);
}

static const struct made one = {.cpus = 1, .cores = 1, .l3 = 1, .node = 1};
static const struct made two = {.cpus = 2, .cores = 2, .l3 = 2, .node = 2};
static const struct made two_threads = {
    .cpus = 2, .cores = 1, .l3 = 1, .node = 1};
static const struct made four = {.cpus = 4, .cores = 4, .l3 = 4, .node = 4};
static const struct made four_smt = {.cpus = 4, .cores = 2, .l3 = 2, .node = 2};
static const struct made eight_smt = {
    .cpus = 8, .cores = 4, .l3 = 4, .node = 4};
/* Two sockets with two caches of 8 cores each, of two threads each. */
static const struct made large = {.cpus = 64, .cores = 32, .l3 = 8, .node = 16};

#define NET(list) .interrupts = (list)

static const struct {
	const char *what;
	const struct made *on;
	struct made own; /* if 'on' is NULL */
	struct placement_demand want;
	const char *busy, *placed;
} rows[] = {
    {"one CPU: nothing is chosen", &one, {0}, {1, 1, 1, NULL}, NULL, "none:"},
    {"two CPUs: the server is not on CPU 0", &two, {0}, {1, 1, 1, NULL}, NULL,
	"own: 1 | 0"},
    {"two threads of one core are used, as there is nothing else", &two_threads,
	{0}, {1, 1, 1, NULL}, NULL, "own: 1 | 0"},
    {"four CPUs: neither is on CPU 0", &four, {0}, {1, 1, 1, NULL}, NULL,
	"own: 1 | 2"},
    {"neither is on the CPU that takes the interrupts", NULL,
	{4, 4, 4, 4, NET("1")}, {1, 1, 1, NULL}, NULL, "own: 2 | 3"},
    {"CPU 0 is better than one that takes the interrupts", NULL,
	{3, 3, 3, 3, NET("1")}, {1, 1, 1, NULL}, NULL, "own: 2 | 0"},
    {"if all take interrupts, CPU 0 is still the last one", NULL,
	{2, 2, 2, 2, NET("0-1")}, {1, 1, 1, NULL}, NULL, "own: 1 | 0"},
    {"two cores of two threads: server and client share none", &four_smt, {0},
	{1, 1, 1, NULL}, NULL, "own: 1 | 2"},
    {"the core of CPU 0 is avoided, too", &eight_smt, {0}, {1, 1, 1, NULL},
	NULL, "own: 1 | 2"},
    {"64 CPUs on two nodes: one cache", &large, {0}, {1, 1, 1, NULL}, NULL,
	"own: 1 | 2"},
    {"a cpuset leaves three CPUs", NULL, {64, 32, 8, 16, .allowed = "5,13-14"},
	{1, 1, 1, NULL}, NULL, "own: 13 | 14"},
    {"a cpuset leaves three CPUs, two of one core", NULL,
	{64, 32, 8, 16, .allowed = "5,13,37"}, {1, 1, 1, NULL}, NULL,
	"own: 5 | 13"},
    {"a cpuset leaves two CPUs of two nodes", NULL,
	{64, 32, 8, 16, .allowed = "5,25"}, {1, 1, 1, NULL}, NULL,
	"own: 5 | 25"},
    {"isolated CPUs come first", NULL, {8, 8, 8, 8, .isolated = "5-6"},
	{1, 1, 1, NULL}, NULL, "own: 5 | 6"},
    {"the only isolated CPU is the server's", NULL,
	{8, 8, 8, 8, .isolated = "5"}, {1, 1, 1, NULL}, NULL, "own: 5 | 1"},
    {"isolated CPUs of another node come first, too", NULL,
	{64, 32, 8, 16, .isolated = "16-31,48-63"}, {1, 1, 1, NULL}, NULL,
	"own: 16 | 17"},
    {"an isolated CPU near a server with I/O threads is the client's", NULL,
	{64, 32, 8, 16, .isolated = "20-31"}, {1, 4, 1, NULL}, NULL,
	"own: 16-19 | 20"},
    {"the cache of a running server is better than isolated CPUs", NULL,
	{64, 32, 8, 16, .isolated = "16-31,48-63"}, {0, 1, 1, NULL}, "3",
	"own: | 1"},
    {"a server with I/O threads is not on isolated CPUs", NULL,
	{8, 8, 8, 8, .isolated = "4-6"}, {1, 2, 1, NULL}, NULL, "own: 1-2 | 4"},
    {"a cache without CPU 0, if all its cores are wanted", &large, {0},
	{7, 1, 1, NULL}, NULL, "own: 8 9 10 11 12 13 14 | 15"},
    {"I/O threads on 20 cores stay on one node by using both threads of a core",
	&large, {0}, {1, 20, 1, NULL}, NULL, "own: 1-10,33-42 | 11"},
    {"four I/O threads have a core each", &large, {0}, {1, 4, 1, NULL}, NULL,
	"own: 1-4 | 5"},
    {"four I/O threads and a client on four cores stay in their cache",
	&eight_smt, {0}, {1, 4, 1, NULL}, NULL, "own: 1-2,5-6 | 3"},
    {"four I/O threads do not fit into four CPUs with a client", &four, {0},
	{1, 4, 1, NULL}, NULL, "few:"},
    {"three I/O threads fit", &four, {0}, {1, 3, 1, NULL}, NULL,
	"own: 1-3 | 0"},
    {"a cluster of six nodes has a CPU for each", &large, {0}, {6, 1, 1, NULL},
	NULL, "own: 1 2 3 4 5 6 | 7"},
    {"a cluster of six nodes on four CPUs shares three", &four, {0},
	{6, 1, 1, NULL}, NULL, "shared: 1 2 3 1 2 3 | 0"},
    {"a cluster of six nodes on two CPUs shares one", &two, {0},
	{6, 1, 1, NULL}, NULL, "shared: 1 1 1 1 1 1 | 0"},
    {"of two cores with two threads each, a cluster of six has one", &four_smt,
	{0}, {6, 1, 1, NULL}, NULL, "shared: 1 3 1 3 1 3 | 2"},
    {"three primaries with two replicas have two caches of one node", &large,
	{0}, {9, 1, 1, NULL}, NULL, "own: 1 2 3 4 5 6 7 8 9 | 10"},
    {"four client threads have a CPU each", &large, {0}, {1, 1, 4, NULL}, NULL,
	"own: 1 | 2-5"},
    {"four client threads share what the server leaves", &four, {0},
	{1, 1, 4, NULL}, NULL, "shared: 1 | 0,2-3"},
    {"four client threads on two CPUs share one", &two, {0}, {1, 1, 4, NULL},
	NULL, "shared: 1 | 0"},
    {"client threads that share CPUs leave isolated ones alone", NULL,
	{4, 4, 4, 4, .isolated = "2-3"}, {1, 1, 4, NULL}, NULL,
	"shared: 2 | 0-1"},
    {"a server of unknown threads has what the client leaves", &eight_smt, {0},
	{1, 0, 1, NULL}, NULL, "own: 0-1,3-5,7 | 2"},
    {"two servers of unknown threads share what the client leaves", &four, {0},
	{2, 0, 1, NULL}, NULL, "own: 0-1,3 0-1,3 | 2"},
    {"a server of unknown threads on two CPUs", &two, {0}, {1, 0, 1, NULL},
	NULL, "own: 1 | 0"},
    {"a client keeps away from the core of a running server", &eight_smt, {0},
	{0, 1, 1, NULL}, "1", "own: | 2"},
    {"a client is in the cache of a running server", &large, {0},
	{0, 1, 1, NULL}, "20", "own: | 16"},
    {"a client is on the other thread of its core if there is no other",
	&two_threads, {0}, {0, 1, 1, NULL}, "0", "own: | 1"},
    {"a server that runs anywhere leaves nothing", &four, {0}, {0, 1, 1, NULL},
	"0-3", "none:"},
};

static void
check_choices(void)
{
	char *got, *again;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct made *m = rows[i].on ? rows[i].on : &rows[i].own;

		got = choose(m, rows[i].want, rows[i].busy);
		tap_str(got, rows[i].placed, rows[i].what);
		free(got);
	}
	got = choose(&large, (struct placement_demand){40, 1, 40, NULL}, NULL);
	again =
	    choose(&large, (struct placement_demand){40, 1, 40, NULL}, NULL);
	tap_ok(str_starts(got, "shared:"), "more threads than 64 CPUs share");
	tap_str(got, again, "a choice is the same each time");
	free(got);
	free(again);
}

/* Whatever is asked for, servers and clients share no CPU, nor a core if there
 * are two, and use what is allowed. */
static void
check_all(void)
{
	static const struct made *const all[] = {
	    &two, &two_threads, &four, &four_smt, &eight_smt, &large};
	size_t mixed = 0, bare = 0, choices = 0;
	struct placement p;

	for (size_t m = 0; m < sizeof all / sizeof *all; m++)
		for (size_t i = 0; i < 7 * 5 * 9; i++) {
			struct topology t = make_topology(all[m]);
			struct placement_demand d = {
			    1 + i % 7, i / 7 % 5, 1 + i / 35, NULL};
			enum placement_result r = placement_choose(&p, &t, &d);
			cpu_set_t cores;

			choices++;
			CPU_ZERO(&cores);
			if (r == PLACEMENT_FEW || r == PLACEMENT_NONE) {
				bare += d.threads < 2;
				placement_free_cpus(&t);
				continue;
			}
			for (size_t k = 0; k < t.n; k++)
				if (CPU_ISSET(t.v[k].cpu, &p.clients))
					CPU_SET(all[m]->cores > 1 ? t.v[k].core
								  : t.v[k].cpu,
					    &cores);
			for (size_t k = 0; k < d.servers; k++)
				for (size_t c = 0; c < t.n; c++)
					mixed += CPU_ISSET(t.v[c].cpu,
						     &p.servers[k]) &&
					    CPU_ISSET(all[m]->cores > 1
						    ? t.v[c].core
						    : t.v[c].cpu,
						&cores);
			for (size_t k = 0; k < d.servers; k++)
				bare += CPU_COUNT(&p.servers[k]) == 0;
			bare += CPU_COUNT(&p.clients) == 0;
			placement_free(&p);
			placement_free_cpus(&t);
		}
	tap_ok(!mixed, "no demand puts a server and a client on one core");
	tap_ok(!bare, "every server and client gets a CPU");
	tap_ok(choices > 1000, "many demands were tried");
}

/* --- a machine made of files */

static const char *root;

static void
put(const char *path, const char *text)
{
	char *whole = mem_printf("%s%s", root, path), *dir = mem_str(whole);
	FILE *f;

	folder_make(dirname(dir));
	f = fopen(whole, "we");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
	free(dir);
	free(whole);
}

#define CPU(n, file) "/sys/devices/system/cpu/cpu" #n "/" file

/* Returns each CPU as "CPU core cache node flags", separated by commas. */
static char *
describe(const char *affinity)
{
	struct str s = {0};
	struct topology t;
	const char *why;
	cpu_set_t set;

	cpulist_parse(affinity, &set, &why);
	placement_read_cpus(&t, root, &set);
	for (size_t i = 0; i < t.n; i++)
		str_printf(&s, "%s%d %d %d %d %s%s%s", i ? ", " : "",
		    t.v[i].cpu, t.v[i].core, t.v[i].cache, t.v[i].node,
		    t.v[i].allowed ? "a" : "-", t.v[i].isolated ? "i" : "-",
		    t.v[i].interrupts ? "n" : "-");
	placement_free_cpus(&t);
	return str_take(&s);
}

static void
check_files(void)
{
	char *got;

	got = describe("0-1");
	tap_str(got, "0 0 1024 0 a--, 1 1 1024 0 a--",
	    "without files the inherited CPUs are alike");
	free(got);
	put("/sys/devices/system/cpu/online", "0-3\n");
	put(CPU(0, "topology/core_cpus_list"), "0,2\n");
	put(CPU(2, "topology/core_cpus_list"), "0,2\n");
	put(CPU(1, "topology/thread_siblings_list"), "1,3\n");
	put(CPU(3, "topology/thread_siblings_list"), "1,3\n");
	put(CPU(0, "cache/index3/shared_cpu_list"), "0,2\n");
	put(CPU(2, "cache/index3/shared_cpu_list"), "0,2\n");
	put("/sys/devices/system/node/node0/cpulist", "0,2\n");
	put("/sys/devices/system/node/node1/cpulist", "1,3\n");
	put("/sys/devices/system/cpu/isolated", "3\n");
	put("/proc/irq/7/effective_affinity_list", "2\n");
	put("/proc/irq/8/effective_affinity_list", "\n");
	put("/proc/7/comm", "bash\n");
	got = describe("0-2");
	tap_str(got, "0 0 0 0 a--, 1 1 1025 1 a--, 2 0 0 0 a-n, 3 1 1025 1 ai-",
	    "files tell cores, caches, nodes, interrupts; isolated CPUs, which "
	    "nothing inherits, are allowed");
	free(got);
	got = describe("0-1");
	tap_str(got, "0 0 0 0 a--, 1 1 1025 1 a--, 2 0 0 0 --n, 3 1 1025 1 -i-",
	    "a process that was given fewer CPUs keeps to them");
	free(got);
	put("/proc/self/cgroup", "0::/a\n");
	put("/proc/self/mountinfo",
	    "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put("/sys/fs/cgroup/cgroup.controllers", "cpu cpuset\n");
	put("/sys/fs/cgroup/a/cpuset.cpus.effective", "1-2\n");
	got = describe("1-2");
	tap_str(got, "0 0 0 0 ---, 1 1 1025 1 a--, 2 0 0 0 a-n, 3 1 1025 1 -i-",
	    "a control group keeps isolated CPUs away");
	free(got);
	put("/proc/8/comm", "irqbalance\n");
	got = describe("0-2");
	tap_ok(!strchr(got, 'n'),
	    "interrupts that irqbalance moves are on no CPU");
	free(got);
}

static void
check_demand(const char *spec, const char *want, const char *what)
{
	struct json *j = json_parse(spec, strlen(spec), NULL, NULL);
	struct placement_demand d;
	bool asks = placement_demand(&d, j);
	char *got = asks ? mem_printf("%zu x %zu", d.servers, d.threads)
			 : mem_str("none");

	tap_str(got, want, what);
	free(got);
	json_free(j);
}

static void
check_demands(void)
{
	check_demand("{}", "1 x 1", "one server of one thread");
	check_demand("{\"primaries\":3,\"replicas\":1,\"io_threads\":4}",
	    "6 x 4", "each node of a cluster has its I/O threads");
	check_demand("{\"config\":{\"IO-threads\":\"2\",\"save\":\"\","
		     "\"appendonly\":\"no\"}}",
	    "1 x 2", "I/O threads of the settings");
	check_demand("{\"config\":{\"io-threads\":8}}", "1 x 8",
	    "I/O threads as a number");
	check_demand("{\"config_set\":{\"appendonly\":\"yes\"}}", "1 x 0",
	    "children that save data are not counted");
	check_demand("{\"config\":{\"save\":[\"60 1\"]}}", "1 x 0",
	    "nor are those of a list of 'save'");
	check_demand("{\"modules\":[{\"path\":\"/m\"}]}", "1 x 0",
	    "modules have threads of their own");
	check_demand("{\"config_file\":\"/f\"}", "1 x 0",
	    "a configuration file may ask for threads");
	check_demand("{\"cpus\":[\"0\"]}", "none", "the spec names CPUs");
	check_demand("{\"config\":{\"server-cpulist\":\"1\"}}", "none",
	    "a setting names CPUs");
	check_demand(
	    "{\"placement\":\"none\"}", "none", "the spec wants no placement");
}

int
main(void)
{
	char dir[] = "/tmp/vkb-placement.XXXXXX";

	root = mkdtemp(dir);
	check_choices();
	check_all();
	check_files();
	check_demands();
	folder_remove(dir);
	return tap_done();
}
