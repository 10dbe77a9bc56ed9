/* Reads symbols from text files: of the kernel, of jit code. */
#ifndef SYMFILES_H
#define SYMFILES_H

#include <stddef.h>

struct symtab;

/*
 * symfiles_read_kernel reads /proc/kallsyms, "ffffffff81000000 T _text", where
 * addresses may be hidden as 0; symfiles_read_jit reads /tmp/perf-PID.map,
 * "START SIZE name" in hexadecimal, of this user or root. NULL, not reported:
 * no file.
 */
struct symtab *symfiles_read_kernel(const char *path);
struct symtab *symfiles_read_jit(const char *path);

#endif
