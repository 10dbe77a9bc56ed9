/*
 * What the control groups (v1, v2, or both) let this process have. A limit of
 * a group above counts as well.
 */
#ifndef CGROUP_H
#define CGROUP_H

struct cgroup {
	int version; /* of the cpu controller: 1, 2; 0: none is seen */
	double cpus; /* CPUs' worth of time; NAN: no limit, or unknown */
	double memory_bytes;
	char *cpuset;       /* the CPUs it may use; NULL: unknown */
	double throttled;   /* times it was stopped for its limit; NAN */
	double throttled_s; /* so long; NAN */
};

/* 'root' as in sysfile.h. */
void cgroup_read(struct cgroup *, const char *root);
void cgroup_free(struct cgroup *);

#endif
