/*
 * The hardware, kernel and settings of this machine. 'root' is as in sysfile.h.
 * A value that cannot be read is absent.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>

struct json;

/*
 * Returns a new env record: hardware, kernel and settings, the state now, the
 * time. 'session' may be NULL. Caller frees with json_free.
 */
struct json *machine_record(const char *root, const char *session);

/*
 * Returns what each run repeats of the member "env" of such a record: the host,
 * and what affects results most. Caller frees with json_free.
 */
struct json *machine_brief(const struct json *env);

/*
 * Returns whether /proc/stat covers the whole machine. In a container lxcfs may
 * replace it with the container's own share.
 */
bool machine_stat_is_whole(const char *root);

/* Returns whether a process of this name runs; -1 if processes cannot be seen.
 */
int machine_runs(const char *root, const char *program);

/* --- the state now; what cannot be read is absent, or NAN */

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
