/*
 * What this machine is doing now, and how it feels. 'root' as in sysfile.h.
 * What cannot be read is absent, or NAN.
 */
#ifndef MOMENT_H
#define MOMENT_H

struct json;

/* Load, frequency, temperature, memory, throttling, pressure. A new object, the
 * caller's. */
struct json *moment_read(const char *root);

/* Degrees of the hottest sensor of the CPU. */
double moment_temperature(const char *root);

struct moment_clocks {
	double mean_mhz, slowest_mhz, fastest_mhz;
};

/* Over all CPUs that say it. */
void moment_clocks(const char *root, struct moment_clocks *);

/* Times the CPUs slowed down for their heat, since the start. */
double moment_throttles(const char *root);

#endif
