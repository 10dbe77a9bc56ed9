/*
 * The state of this machine now. 'root' is as in sysfile.h. A value that cannot
 * be read is absent, or NAN.
 */
#ifndef MACHINESTATE_H
#define MACHINESTATE_H

struct json;

/* Returns a new object: load, frequency, temperature, memory, throttling,
 * pressure. Caller frees with json_free. */
struct json *machine_state_read(const char *root);

/* Degrees Celsius of the hottest sensor of the CPU. */
double machine_state_temperature(const char *root);

struct machine_state_clocks {
	double mean_mhz, slowest_mhz, fastest_mhz;
};

/* Current frequencies over all CPUs that report one. */
void machine_state_clocks(const char *root, struct machine_state_clocks *);

/* How often CPUs were throttled because of heat since boot. */
double machine_state_throttles(const char *root);

#endif
