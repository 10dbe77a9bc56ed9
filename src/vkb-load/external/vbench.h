/*
 * The engine valkey-benchmark: an external program, of any version, makes the
 * load. Its version and options are read once. A missing option is emulated if
 * the result stays comparable, and named in env.emulated; else the case is
 * refused:
 *
 * duration: as many requests as take that long, by a trial on a server of its
 * own; the same number for all runs of the case.
 *
 * warm-up: a process before the measured one, whose result is dropped.
 *
 * The native engine fills the servers, with the same keys. The program cannot
 * outlive ours. A run is valid only if the servers' counters confirm it.
 */
#ifndef VBENCH_H
#define VBENCH_H

#include <stdbool.h>

#include "vkb-load/case/engines.h"

#define VBENCH "valkey-benchmark"

struct builds;
struct vbench;

/*
 * Uses 'path', or valkey-benchmark in PATH, or that of the first build that has
 * one: the same program for all builds, so that differences are not due to it.
 * 'login': an external server needs a password. Returns NULL after reporting an
 * error.
 */
struct vbench *vbench_open(const char *path, const struct builds *, bool login);
void vbench_close(struct vbench *); /* NULL does nothing */
struct engine vbench_engine(struct vbench *);

#endif
