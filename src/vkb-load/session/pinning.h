/* Checks that this machine has the CPUs that cases are pinned to. */
#ifndef PINNING_H
#define PINNING_H

#include <stdbool.h>
#include <stddef.h>

struct bench_case;

/*
 * 0, or -1, error reported. CPUs of servers are checked only if 'servers' is
 * set: a running server may be on another machine.
 */
int pinning_check(const struct bench_case *cases, size_t n, bool servers);

#endif
