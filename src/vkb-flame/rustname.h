/* Names of Rust (legacy mangling) that were demangled as those of C++. */
#ifndef RUSTNAME_H
#define RUSTNAME_H

#include <stdbool.h>
#include <stddef.h>

struct str;

/*
 * Adds the name without its hash, "$LT$" and the like as what they mean; as
 * it is, and false, where it does not end in such a hash.
 */
bool rustname_add(struct str *, const char *s, size_t n);

#endif
