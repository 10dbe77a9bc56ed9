#include "cpustat.h"
#include "mem.h"
#include "str.h"
#include "sysfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cpustat_cpu unknown_times = {NAN, NAN, NAN};

/* Fields: user (with guest) nice system idle iowait irq softirq steal. */
static struct cpustat_cpu
parse_times(const char *s)
{
	double v[8];

	if (sscanf(s, "%lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2],
		&v[3], &v[4], &v[5], &v[6], &v[7]) != 8)
		return unknown_times;
	/* Interrupts are not busy time here: the load causes them. */
	return (struct cpustat_cpu){v[0] + v[1] + v[2], v[7],
	    v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7]};
}

static void
reserve_cpus(struct cpustat *c, size_t n)
{
	if (n <= c->n)
		return;
	c->cpu = mem_resize(c->cpu, n, sizeof *c->cpu);
	while (c->n < n)
		c->cpu[c->n++] = unknown_times;
}

void
cpustat_read(struct cpustat *c, const char *root)
{
	FILE *f = sysfile_open(root, "/proc/stat");
	char *line = NULL, *end;
	size_t cap = 0;
	unsigned long i;

	c->whole = unknown_times;
	for (i = 0; i < c->n; i++)
		c->cpu[i] = unknown_times;
	while (f && getline(&line, &cap, f) > 0 && str_starts(line, "cpu")) {
		if (line[3] == ' ') {
			c->whole = parse_times(line + 3);
			continue;
		}
		i = strtoul(line + 3, &end, 10);
		if (end == line + 3 || i > 65535)
			continue;
		reserve_cpus(c, i + 1);
		c->cpu[i] = parse_times(end);
	}
	free(line);
	if (f)
		fclose(f);
}

static double
compute_percent(double of, double all)
{
	return all > 0 ? fmin(fmax(100 * of / all, 0), 100) : NAN;
}

double
cpustat_busy(const struct cpustat_cpu *a, const struct cpustat_cpu *b)
{
	return compute_percent(b->busy - a->busy, b->all - a->all);
}

double
cpustat_steal(const struct cpustat_cpu *a, const struct cpustat_cpu *b)
{
	return compute_percent(b->steal - a->steal, b->all - a->all);
}
