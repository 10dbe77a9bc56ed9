/*
 * The engine valkey-benchmark: an external program of any version makes the
 * load. Which one, and what it can do, is found out once. What it cannot do is
 * made up for where that is honest, and said in env.emulated, or the case is
 * refused:
 *
 * duration: so many requests as take so long, by a trial on a server of its
 * own; the same number for all runs of the case.
 * warm-up: a process before the measured one, whose result is dropped.
 *
 * The servers are filled by the native engine, with the same keys. The program
 * ends with ours. A run counts only where the servers say that they have
 * served it.
 */
#ifndef VBENCH_H
#define VBENCH_H

#include <stdbool.h>

#include "vkb-load/case/engines.h"

#define VBENCH "valkey-benchmark"

struct builds;
struct vbench;

/*
 * 'path', or valkey-benchmark in PATH, or that of the first build which has
 * one: one program for all builds, so that it is none of the differences.
 * 'login': a running server wants a password. NULL, and said.
 */
struct vbench *vbench_open(const char *path, const struct builds *, bool login);
void vbench_close(struct vbench *); /* NULL does nothing */
struct engine vbench_engine(struct vbench *);

#endif
