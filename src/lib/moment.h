/*
 * The state of this machine now. 'root' is as in sysfile.h. A value that cannot
 * be read is absent, or NAN.
 */
#ifndef MOMENT_H
#define MOMENT_H

struct json;

/* Returns a new object: load, frequency, temperature, memory, throttling,
 * pressure. Caller frees with json_free. */
struct json *moment_read(const char *root);

/* Degrees Celsius of the hottest sensor of the CPU. */
double moment_temperature(const char *root);

struct moment_clocks {
	double mean_mhz, slowest_mhz, fastest_mhz;
};

/* Current frequencies over all CPUs that report one. */
void moment_clocks(const char *root, struct moment_clocks *);

/* How often CPUs were throttled because of heat since boot. */
double moment_throttles(const char *root);

#endif
