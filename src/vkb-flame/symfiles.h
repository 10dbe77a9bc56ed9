/* Symbols of this machine that stand in text: of the kernel, of jit code. */
#ifndef SYMFILES_H
#define SYMFILES_H

#include <stddef.h>

struct symtab;

/*
 * /proc/kallsyms, "ffffffff81000000 T _text", whose 0s mean that one may not
 * see them; and /tmp/perf-PID.map, "START SIZE name" in hexadecimal, which has
 * to be of this user or of root. NULL, and nothing said: there are none.
 */
struct symtab *symfiles_kernel(const char *path);
struct symtab *symfiles_jit(const char *path);

#endif
