/* Rust names (legacy mangling) that were demangled as C++ names. */
#ifndef RUSTNAME_H
#define RUSTNAME_H

#include <stdbool.h>
#include <stddef.h>

struct str;

/*
 * Appends the name without its hash and with "$LT$" etc. decoded. Returns false
 * and appends the name unchanged if it has no such hash.
 */
bool rustname_add(struct str *, const char *s, size_t n);

#endif
