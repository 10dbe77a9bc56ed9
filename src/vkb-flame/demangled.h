/* Demangles C++ and Rust names. */
#ifndef DEMANGLED_H
#define DEMANGLED_H

struct str;

/* Appends the name without arguments and result, as perf does; unchanged if it
 * is not mangled. */
void demangled_add(struct str *, const char *name);

#endif
