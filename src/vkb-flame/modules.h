/*
 * What code is of: files, the kernel, jit code; and the symbols at their
 * addresses, of files that have the build-id that was recorded: the file
 * itself, or what perf keeps in ~/.debug; of a file without symbols its debug
 * file in /usr/lib/debug.
 */
#ifndef MODULES_H
#define MODULES_H

#include <stddef.h>
#include <stdint.h>

#define MODULES_KERNEL "[kernel.kallsyms]"

struct modules;

struct modules *modules_new(void);
void modules_free(struct modules *);

/* The number of a module; 'id' is its build-id, of n bytes, none where 0. */
size_t modules_id(
    struct modules *, const char *name, const unsigned char *id, size_t n);
const char *modules_name(const struct modules *, size_t module);

/* Where the kernel's symbol _text was when the profile was made. */
void modules_kernel_at(struct modules *, uint64_t text);

/*
 * The function at an address: of the kernel and of jit code as it runs, else
 * an offset in the file. NULL: not known. *linked, if given, is the address
 * that addr2line knows.
 */
const char *modules_find(
    struct modules *, size_t module, uint64_t at, uint64_t *linked);

/* Modules whose file is not what was recorded. */
size_t modules_others(const struct modules *, const char **first);

#endif
