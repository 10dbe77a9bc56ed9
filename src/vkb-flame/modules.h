/*
 * Modules of code (files, the kernel, jit code) and their symbols. Reads a file
 * only if it has the recorded build-id: the file itself, else perf's copy in
 * ~/.debug; and its debug file in /usr/lib/debug.
 */
#ifndef MODULES_H
#define MODULES_H

#include <stddef.h>
#include <stdint.h>

#define MODULES_KERNEL "[kernel.kallsyms]"

struct modules;

struct modules *modules_new(void);
void modules_free(struct modules *);

/* Returns the number of a module; 'id' is its build-id of n bytes; n may be 0.
 */
size_t modules_add(
    struct modules *, const char *name, const unsigned char *id, size_t n);
const char *modules_name(const struct modules *, size_t module);

/* Sets the address of the kernel's symbol _text at recording time. */
void modules_set_kernel(struct modules *, uint64_t text);

/*
 * Returns the function at an address, or NULL if unknown. 'at' is an address in
 * the kernel and in jit code, and a file offset elsewhere. *linked (may be
 * NULL) becomes the address that the linker gave it.
 */
const char *modules_find_symbol(
    struct modules *, size_t module, uint64_t at, uint64_t *linked);

/* Returns the number of modules whose file is not the recorded one. */
size_t modules_count_stale(const struct modules *, const char **first);

#endif
