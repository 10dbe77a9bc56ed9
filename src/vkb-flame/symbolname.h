/* Names of functions of Rust. */
#ifndef SYMBOLNAME_H
#define SYMBOLNAME_H

#include <stdbool.h>
#include <stddef.h>

struct str;

/*
 * Appends a name of Rust (legacy mangling) that was demangled as one of C++,
 * without its hash and with "$LT$" etc. decoded. Returns false and appends the
 * name unchanged if it has no such hash.
 */
bool symbolname_add_rust(struct str *, const char *s, size_t n);

#endif
