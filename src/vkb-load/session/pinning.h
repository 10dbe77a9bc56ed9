/* Are the CPUs there that cases are pinned to? */
#ifndef PINNING_H
#define PINNING_H

#include <stdbool.h>
#include <stddef.h>

struct json;

/*
 * 0, or -1 and said. Servers elsewhere have CPUs of their own: without
 * 'servers' theirs are not looked at.
 */
int pinning_check(struct json *const *cases, size_t n, bool servers);

#endif
