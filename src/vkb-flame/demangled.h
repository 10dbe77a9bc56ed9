/* Names of C++ and Rust as they were written. */
#ifndef DEMANGLED_H
#define DEMANGLED_H

#include <stddef.h>

struct str;

/* Adds the name without arguments and result, as perf does; as it is where it
 * is not mangled. */
void demangled_add(struct str *, const char *s, size_t n);

#endif
