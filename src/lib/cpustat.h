/*
 * The time that the CPUs spent, from /proc/stat: what was done between two
 * readings. 'root' as in sysfile.h.
 */
#ifndef CPUSTAT_H
#define CPUSTAT_H

#include <stddef.h>

struct cpustat_cpu { /* ticks since the start; all NAN: it is off */
	double busy; /* user, nice, system */
	double steal;
	double all;
};

struct cpustat {
	struct cpustat_cpu whole;
	struct cpustat_cpu *cpu; /* by number; freed with free() */
	size_t n;
};

/* The array is used again. Nothing could be read: all is NAN. */
void cpustat_read(struct cpustat *, const char *root);

/* Percent of the time between; NAN. */
double cpustat_busy(const struct cpustat_cpu *, const struct cpustat_cpu *);
double cpustat_steal(const struct cpustat_cpu *, const struct cpustat_cpu *);

#endif
