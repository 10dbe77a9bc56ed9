/* CPU time between two readings of /proc/stat. 'root' as in sysfile.h. */
#ifndef CPUSTAT_H
#define CPUSTAT_H

#include <stddef.h>

struct cpustat_cpu { /* ticks since the boot; all NAN: the CPU is offline */
	double busy; /* user, nice, system */
	double steal;
	double all;
};

struct cpustat {
	struct cpustat_cpu whole; /* all CPUs */
	struct cpustat_cpu *cpu;  /* by number; the caller frees it */
	size_t n;
};

/* Reads the times and reuses the array. All are NAN if nothing can be read. */
void cpustat_read(struct cpustat *, const char *root);

/* Returns percent of the time between two readings; NAN if unknown. */
double cpustat_busy(const struct cpustat_cpu *, const struct cpustat_cpu *);
double cpustat_steal(const struct cpustat_cpu *, const struct cpustat_cpu *);

#endif
