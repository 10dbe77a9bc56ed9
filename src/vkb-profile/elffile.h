/* Programs and libraries: 64-bit ELF files in this machine's byte order. */
#ifndef ELFFILE_H
#define ELFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;

/* Returns NULL, not reported, with errno; ENOEXEC: another kind of file. */
struct elffile *elffile_open(const char *path);
void elffile_close(struct elffile *);

/* Converts a link-time address of code to its file offset. Returns false if no
 * code is there. */
bool elffile_offset(const struct elffile *, uint64_t at, uint64_t *offset);

/* Returns the first segment of code, borrowed, or NULL. */
const unsigned char *elffile_code(const struct elffile *, size_t *n);

typedef void elffile_see(void *arg, const char *name, uint64_t at);

/* Calls 'see' for the functions that are defined in the file. 'name' is
 * borrowed until the file is closed, 'at' is the link-time address. */
void elffile_functions(const struct elffile *, elffile_see *see, void *arg);

#endif
