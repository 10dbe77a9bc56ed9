#include "topology.h"
#include "cgroup.h"
#include "cpulist.h"
#include "machine.h"
#include "mem.h"
#include "sysfile.h"

#include <stdlib.h>

#define CPUS "/sys/devices/system/cpu/"
#define NODES "/sys/devices/system/node/"

/* Reads a CPU list; false, with no CPU, if there is none. */
static bool
read_list(const char *root, const char *path, cpu_set_t *set)
{
	char *line = sysfile_line(root, path);
	const char *why;
	bool read = line && cpulist_parse(line, set, &why) == 0;

	if (!read)
		CPU_ZERO(set);
	free(line);
	return read;
}

/* Returns the first CPU of the list in a file of a CPU, or 'otherwise'. */
static int
read_first(const char *root, int cpu, const char *file, int otherwise)
{
	char *path = mem_printf(CPUS "cpu%d/%s", cpu, file);
	cpu_set_t set;
	int first = 0;

	if (read_list(root, path, &set))
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
		read_list(root, list[node], &set);
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
		read_list(root, *p, &one);
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
topology_read(struct topology *t, const char *root, const cpu_set_t *affinity)
{
	cpu_set_t online, isolated, interrupts, allowed;
	struct topology_cpu *c;

	*t = (struct topology){0};
	if (!read_list(root, CPUS "online", &online))
		online = *affinity;
	read_list(root, CPUS "isolated", &isolated);
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
topology_free(struct topology *t)
{
	free(t->v);
	*t = (struct topology){0};
}
