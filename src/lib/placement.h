/*
 * Chooses CPUs for servers and for the client threads that load them, so that
 * neither disturbs the other and each start gets the same ones.
 */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct json;

/* The CPUs of this machine: which of them share a core, a cache, a NUMA node.
 */
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
 * as if all CPUs were alike. Call placement_free_cpus.
 */
void placement_read_cpus(
    struct topology *, const char *root, const cpu_set_t *affinity);
void placement_free_cpus(struct topology *);

struct placement_demand {
	size_t servers;        /* processes to start; 0: they run already */
	size_t threads;        /* of each; 0: not known */
	size_t clients;        /* client threads, at least 1 */
	const cpu_set_t *busy; /* CPUs of those that run already, or NULL */
};

enum placement_result {
	PLACEMENT_OWN,    /* all threads have CPUs of their own */
	PLACEMENT_SHARED, /* servers share CPUs, or client threads do; servers
			   * and clients do not share any */
	PLACEMENT_FEW,    /* nothing is placed: a server's threads, which wait
			   * for each other, would share CPUs */
	PLACEMENT_NONE    /* there is nothing to choose */
};

struct placement {
	cpu_set_t *servers; /* of each server */
	cpu_set_t clients;  /* of all client threads */
};

/*
 * Chooses by what is allowed: servers and clients never share a core while
 * there are two, all are in one L3 cache or NUMA node if they fit, CPU 0 and
 * those that handle interrupts come last and isolated ones first. A server
 * whose threads are not known gets all CPUs that the clients leave. Isolated
 * CPUs, between which the kernel moves nothing, are not for servers with
 * several threads. Call placement_free after the first two results.
 */
enum placement_result placement_choose(struct placement *,
    const struct topology *, const struct placement_demand *);
void placement_free(struct placement *);

/*
 * Reads what a 'spec' record demands, and one client thread. The threads of a
 * server with modules, a configuration file, or children that save its data are
 * not known. Returns false if the spec says itself where its servers run: by
 * CPU lists, also in their settings, or by "placement": "none".
 */
bool placement_demand(struct placement_demand *, const struct json *spec);

/*
 * Returns whether programs measure beside each other on this host, with
 * VKB_LOCK "no" in the environment. All would choose the same CPUs, so none
 * does.
 */
bool placement_is_off(void);

/*
 * Chooses CPUs of this machine for the servers of a spec, and leaves some for a
 * load. Returns those of each server, or NULL to pin none; the caller frees
 * them.
 */
cpu_set_t *placement_servers(const struct json *spec);

#endif
