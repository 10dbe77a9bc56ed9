/* The CPUs of this machine: which of them share a core, a cache, a NUMA node.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct topology_cpu {
	int cpu;
	/* Equal for CPUs of one core, L3 cache, NUMA node. */
	int core, cache, node;
	bool isolated;   /* the kernel puts nothing there by itself */
	bool interrupts; /* it handles interrupts that other CPUs do not */
	bool allowed;    /* this process may use it */
};

struct topology {
	struct topology_cpu *v; /* those that are online, by number */
	size_t n;
};

/*
 * Reads the CPUs; 'root' is as in sysfile.h. 'affinity' has those that this
 * process inherited. Isolated CPUs, which nothing inherits, are allowed too if
 * it has all the others that its control group allows. What cannot be read is
 * as if all CPUs were alike. Call topology_free.
 */
void topology_read(
    struct topology *, const char *root, const cpu_set_t *affinity);
void topology_free(struct topology *);

#endif
