/* Limits of the control groups (v1, v2, or both) for this process. Limits of
 * the groups above count as well. */
#ifndef CGROUP_H
#define CGROUP_H

struct cgroup {
	int version; /* of the cpu controller, 1 or 2; 0: it is off */
	double cpus; /* limit of CPU time, in CPUs; NAN: no limit, or unknown */
	double memory_bytes; /* limit; NAN: no limit, or unknown */
	char *cpuset;        /* CPUs the process may use; NULL: unknown */
	double throttled;    /* times the group was throttled; NAN: unknown */
	double throttled_s;  /* seconds the group was throttled; NAN: unknown */
};

/* 'root' as in sysfile.h. */
void cgroup_read(struct cgroup *, const char *root);
void cgroup_free(struct cgroup *);

/* Returns how many threads of this process can run at once: its CPUs, or fewer
 * by the limit of its groups; at least 1. */
int cgroup_count_cpus(const char *root);

#endif
