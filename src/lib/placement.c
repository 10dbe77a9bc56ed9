#include "placement.h"
#include "cgroup.h"
#include "cpulist.h"
#include "json.h"
#include "machine.h"
#include "mem.h"
#include "opt.h"
#include "str.h"
#include "sysfile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- the CPUs of this machine */

#define CPUS "/sys/devices/system/cpu/"
#define NODES "/sys/devices/system/node/"

/* Returns the first CPU of the list in a file of a CPU, or 'otherwise'. */
static int
read_first(const char *root, int cpu, const char *file, int otherwise)
{
	char *path = mem_printf(CPUS "cpu%d/%s", cpu, file);
	cpu_set_t set;
	int first = 0;

	if (cpulist_read(root, path, &set))
		while (!CPU_ISSET(first, &set))
			first++;
	else
		first = otherwise;
	free(path);
	return first;
}

static void
read_nodes(struct topology *t, const char *root)
{
	char **list = sysfile_glob(root, NODES "node[0-9]*/cpulist");
	cpu_set_t set;

	for (int node = 0; list[node]; node++) {
		cpulist_read(root, list[node], &set);
		for (size_t i = 0; i < t->n; i++)
			if (CPU_ISSET(t->v[i].cpu, &set))
				t->v[i].node = node;
	}
	mem_free_list(list);
}

/*
 * Reads which CPUs handle interrupts. None does if irqbalance moves them
 * from one CPU to another all the time.
 */
static void
read_interrupts(const char *root, cpu_set_t *all)
{
	char **list =
	    sysfile_glob(root, "/proc/irq/[0-9]*/effective_affinity_list");
	bool moved = machine_runs(root, "irqbalance") > 0;
	cpu_set_t one;

	CPU_ZERO(all);
	for (char **p = list; *p && !moved; p++) {
		cpulist_read(root, *p, &one);
		CPU_OR(all, all, &one);
	}
	mem_free_list(list);
}

/* Returns the CPUs that this process may use. */
static cpu_set_t
find_allowed(const char *root, const cpu_set_t *online,
    const cpu_set_t *isolated, const cpu_set_t *affinity)
{
	cpu_set_t group, all, inherited, both;
	struct cgroup c;
	const char *why;

	cgroup_read(&c, root);
	if (!c.cpuset || cpulist_parse(c.cpuset, &group, &why) < 0)
		group = *online;
	cgroup_free(&c);
	CPU_AND(&all, online, &group);
	CPU_AND(&both, &all, isolated);
	CPU_XOR(&inherited, &all, &both);
	CPU_AND(&both, &inherited, affinity);
	if (CPU_EQUAL(&both, &inherited))
		return all;
	CPU_AND(&both, &all, affinity);
	return both;
}

void
placement_read_cpus(
    struct topology *t, const char *root, const cpu_set_t *affinity)
{
	cpu_set_t online, isolated, interrupts, allowed;
	struct topology_cpu *c;

	*t = (struct topology){0};
	if (!cpulist_read(root, CPUS "online", &online))
		online = *affinity;
	cpulist_read(root, CPUS "isolated", &isolated);
	read_interrupts(root, &interrupts);
	allowed = find_allowed(root, &online, &isolated, affinity);
	t->v = mem_array((size_t)CPU_COUNT(&online) + 1, sizeof *t->v);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &online))
			continue;
		c = &t->v[t->n++];
		c->cpu = i;
		c->core = read_first(root, i, "topology/core_cpus_list",
		    read_first(root, i, "topology/thread_siblings_list", i));
		c->isolated = CPU_ISSET(i, &isolated);
		c->interrupts = CPU_ISSET(i, &interrupts);
		c->allowed = CPU_ISSET(i, &allowed);
	}
	read_nodes(t, root);
	for (size_t i = 0; i < t->n; i++) /* without one: that of its node */
		t->v[i].cache = read_first(root, t->v[i].cpu,
		    "cache/index3/shared_cpu_list", CPU_SETSIZE + t->v[i].node);
}

void
placement_free_cpus(struct topology *t)
{
	free(t->v);
	*t = (struct topology){0};
}

/* --- which of them are taken */

enum { CPU_0 = 1, INTERRUPTS = 2 }; /* why a CPU is not a good one */

enum who { UNUSED, SERVER, CLIENT };

/* A CPU that may be used. */
struct slot {
	const struct topology_cpu *cpu;
	int core_faults, faults;
	bool first; /* of its core */
	enum who used;
};

/* All CPUs that may be used, the best ones first. */
struct slots {
	struct slot *v;
	size_t n;
	cpu_set_t cores[CLIENT + 1]; /* that servers and clients use */
	cpu_set_t busy_cores;        /* of servers that run already */
	bool isolated[CLIENT + 1];   /* who may use isolated CPUs */
	bool mixed; /* servers and clients have no two cores to choose */
};

/* Where CPUs are looked for. */
struct search {
	int cache, node; /* -1: any */
	bool cores;      /* one CPU of each core */
	bool mixed;      /* servers and clients may be on one core */
};

static int
find_faults(const struct topology_cpu *c)
{
	return (c->cpu == 0 ? CPU_0 : 0) | (c->interrupts ? INTERRUPTS : 0);
}

/* Isolated ones first, then good cores, of these their good CPUs, by number. */
static int
compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	if (x->cpu->isolated != y->cpu->isolated)
		return x->cpu->isolated ? -1 : 1;
	if (x->core_faults != y->core_faults)
		return x->core_faults - y->core_faults;
	if (x->cpu->core != y->cpu->core)
		return x->cpu->core - y->cpu->core;
	if (x->faults != y->faults)
		return x->faults - y->faults;
	return x->cpu->cpu - y->cpu->cpu;
}

static void
make_slots(
    struct slots *s, const struct topology *t, const struct placement_demand *d)
{
	struct slot *slot;

	*s = (struct slots){.v = mem_array(t->n + 1, sizeof *s->v)};
	s->isolated[SERVER] = d->threads == 1;
	s->isolated[CLIENT] = true;
	for (size_t i = 0; i < t->n; i++) {
		bool busy = d->busy && CPU_ISSET(t->v[i].cpu, d->busy);

		if (busy)
			CPU_SET(t->v[i].core, &s->busy_cores);
		if (busy || !t->v[i].allowed)
			continue;
		slot = &s->v[s->n++];
		slot->cpu = &t->v[i];
		slot->faults = find_faults(slot->cpu);
		for (size_t k = 0; k < t->n; k++)
			if (t->v[k].core == slot->cpu->core)
				slot->core_faults |= find_faults(&t->v[k]);
	}
	qsort(s->v, s->n, sizeof *s->v, compare_slots);
	s->mixed = true;
	for (size_t i = 0; i < s->n; i++) {
		s->v[i].first =
		    !i || s->v[i - 1].cpu->core != s->v[i].cpu->core;
		if (d->servers ? i && s->v[i].first
			       : !CPU_ISSET(s->v[i].cpu->core, &s->busy_cores))
			s->mixed = false;
	}
}

static bool
is_usable(const struct slots *s, const struct slot *slot,
    const struct search *where, enum who who)
{
	const struct topology_cpu *c = slot->cpu;
	enum who other = who == SERVER ? CLIENT : SERVER;

	return slot->used == UNUSED && (s->isolated[who] || !c->isolated) &&
	    (where->cache < 0 || c->cache == where->cache) &&
	    (where->node < 0 || c->node == where->node) &&
	    (!where->cores || slot->first) &&
	    (where->mixed ||
		!(CPU_ISSET(c->core, &s->cores[other]) ||
		    CPU_ISSET(c->core, &s->busy_cores)));
}

/* Takes up to n CPUs. Returns how many were taken. */
static size_t
take_some(struct slots *s, const struct search *where, enum who who, size_t n)
{
	size_t taken = 0;

	for (size_t i = 0; i < s->n && taken < n; i++) {
		if (!is_usable(s, &s->v[i], where, who))
			continue;
		s->v[i].used = who;
		CPU_SET(s->v[i].cpu->core, &s->cores[who]);
		taken++;
	}
	return taken;
}

/* Returns the CPUs that were chosen before, and takes some for all threads; or
 * returns false.
 */
static bool
take_all(
    struct slots *s, const struct search *where, size_t servers, size_t clients)
{
	for (size_t i = 0; i < s->n; i++)
		s->v[i].used = UNUSED;
	CPU_ZERO(&s->cores[SERVER]);
	CPU_ZERO(&s->cores[CLIENT]);
	return take_some(s, where, SERVER, servers) == servers &&
	    take_some(s, where, CLIENT, clients) == clients;
}

/* Returns how bad the taken CPUs are. The worst is that none shares a cache
 * with the servers that run already, then one that is not isolated, then one of
 * a core with faults. */
static size_t
count_faults(
    const struct slots *s, const struct topology *t, const cpu_set_t *busy)
{
	size_t bad = 0, more = t->n + 1;
	bool near = !busy;

	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].used == UNUSED)
			continue;
		bad += (s->v[i].core_faults != 0) +
		    (s->v[i].cpu->isolated ? 0 : more);
		for (size_t k = 0; k < t->n && !near; k++)
			near = CPU_ISSET(t->v[k].cpu, busy) &&
			    t->v[k].cache == s->v[i].cpu->cache;
	}
	return bad + (near ? 0 : more * more);
}

enum scope { CACHE, NODE, MACHINE };

/* Tries each cache, or node, or the machine, and takes the best CPUs. */
static bool
search_scope(struct slots *s, const struct topology *t, const cpu_set_t *busy,
    enum scope scope, bool cores, size_t servers, size_t clients)
{
	struct search where = {-1, -1, cores, false}, best = where;
	size_t bad, least = SIZE_MAX;
	int last = -1, *at = scope == CACHE ? &where.cache : &where.node;

	for (size_t i = 0; i < t->n; i++) {
		if (scope != MACHINE)
			*at = scope == CACHE ? t->v[i].cache : t->v[i].node;
		if (i && *at == last)
			continue;
		last = *at;
		if (!take_all(s, &where, servers, clients))
			continue;
		bad = count_faults(s, t, busy);
		if (bad < least) {
			least = bad;
			best = where;
		}
	}
	return least < SIZE_MAX && take_all(s, &best, servers, clients);
}

/* Takes a CPU for each thread where they are best, or returns false. */
static bool
search_all(struct slots *s, const struct topology *t, const cpu_set_t *busy,
    size_t servers, size_t clients)
{
	static const struct {
		enum scope scope;
		bool cores;
	} order[] = {{CACHE, true}, {NODE, true}, {CACHE, false}, {NODE, false},
	    {MACHINE, true}, {MACHINE, false}};

	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (search_scope(s, t, busy, order[i].scope, order[i].cores,
			servers, clients))
			return true;
	return s->mixed &&
	    take_all(
		s, &(struct search){-1, -1, false, true}, servers, clients);
}

/* Takes as many CPUs for 'clients', then for 'servers', as there are. */
static bool
search_shared(struct slots *s, const struct placement_demand *d, size_t servers)
{
	const struct search where = {-1, -1, false, s->mixed};
	size_t n = servers < s->n ? servers : s->n;
	size_t c = d->clients < s->n ? d->clients : s->n;

	s->isolated[CLIENT] = false; /* they would all stay on one of them */
	for (; servers <= s->n && c; c--)
		if (take_all(s, &where, servers, c))
			return true;
	for (; d->threads == 1 && n; n--)
		if (take_all(s, &where, n, 1)) {
			take_some(s, &where, CLIENT, d->clients - 1);
			return true;
		}
	return false;
}

/* Sets the CPUs of each server: 'threads' of those that were taken. */
static void
give_servers(struct placement *p, const struct slots *s,
    const struct placement_demand *d)
{
	const struct slot **all = mem_array(s->n + 1, sizeof(struct slot *));
	size_t n = 0, each;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].used == SERVER)
			all[n++] = &s->v[i];
	each = d->threads ? d->threads : n;
	for (size_t i = 0; i < d->servers; i++)
		for (size_t k = 0; k < each; k++)
			CPU_SET(
			    all[(i * each + k) % n]->cpu->cpu, &p->servers[i]);
	free(all);
}

enum placement_result
placement_choose(struct placement *p, const struct topology *t,
    const struct placement_demand *d)
{
	/* One CPU of those that a server of unknown threads gets is chosen. */
	size_t servers = d->threads ? d->servers * d->threads : d->servers > 0;
	enum placement_result r = PLACEMENT_OWN;
	struct slots s;

	*p = (struct placement){
	    .servers = mem_array(d->servers + 1, sizeof *p->servers)};
	make_slots(&s, t, d);
	if (s.n < 1 + (d->servers > 0))
		r = PLACEMENT_NONE;
	else if (!search_all(&s, t, d->busy, servers, d->clients))
		r = search_shared(&s, d, servers) ? PLACEMENT_SHARED
		    : d->threads > 1              ? PLACEMENT_FEW
						  : PLACEMENT_NONE;
	if (r == PLACEMENT_OWN || r == PLACEMENT_SHARED) {
		if (!d->threads)
			take_some(&s, &(struct search){-1, -1, false, s.mixed},
			    SERVER, s.n);
		if (d->servers)
			give_servers(p, &s, d);
		for (size_t i = 0; i < s.n; i++)
			if (s.v[i].used == CLIENT)
				CPU_SET(s.v[i].cpu->cpu, &p->clients);
	} else
		placement_free(p);
	free(s.v);
	return r;
}

void
placement_free(struct placement *p)
{
	free(p->servers);
	*p = (struct placement){0};
}

/* Is it a setting other than "" and "no"? */
static bool
is_on(const struct json *setting)
{
	const char *s = json_str(setting);

	return !s || (*s && strcasecmp(s, "no") != 0);
}

/*
 * Takes from settings how many threads a server has: not known if child
 * processes save its data. Returns false if one of them chooses its CPUs.
 */
static bool
read_settings(struct placement_demand *d, const struct json *settings)
{
	for (const struct json *j = json_first(settings); j; j = json_next(j)) {
		const char *name = json_key(j), *s = json_str(j);

		if (str_ends(name, "cpulist"))
			return false;
		if (strcasecmp(name, "io-threads") == 0)
			d->threads =
			    s ? strtoul(s, NULL, 10) : (size_t)json_num(j, 0);
		if ((strcasecmp(name, "save") == 0 ||
			strcasecmp(name, "appendonly") == 0) &&
		    is_on(j))
			d->threads = 0;
	}
	return true;
}

bool
placement_demand(struct placement_demand *d, const struct json *spec)
{
	const char *how = json_get_str(spec, "placement");
	double n = json_get_num(spec, "primaries", 1);

	*d = (struct placement_demand){.clients = 1};
	n *= 1 + json_get_num(spec, "replicas", 0);
	d->servers = n > 0 ? (size_t)n : 1;
	d->threads = (size_t)json_get_num(spec, "io_threads", 1);
	if ((how && strcmp(how, "none") == 0) || json_get(spec, "cpus") ||
	    !read_settings(d, json_get(spec, "config")) ||
	    !read_settings(d, json_get(spec, "config_set")))
		return false;
	if (json_len(json_get(spec, "modules")) ||
	    json_get(spec, "config_file"))
		d->threads = 0;
	return true;
}

bool
placement_is_off(void)
{
	const char *lock = opt_variable("VKB_LOCK");

	return lock && strcmp(lock, "no") == 0;
}

cpu_set_t *
placement_servers(const struct json *spec)
{
	struct placement p = {0};
	struct placement_demand d;
	struct topology t;
	cpu_set_t own;

	if (!placement_demand(&d, spec) || placement_is_off() ||
	    sched_getaffinity(0, sizeof own, &own) < 0)
		return NULL;
	placement_read_cpus(&t, "", &own);
	placement_choose(&p, &t, &d);
	placement_free_cpus(&t);
	return p.servers;
}
