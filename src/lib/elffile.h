/* Programs and libraries: 64-bit ELF files in this machine's byte order. */
#ifndef ELFFILE_H
#define ELFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;

/* Returns NULL, not reported, with errno; ENOEXEC: another kind of file. */
struct elffile *elffile_open(const char *path);
/* Same, for a file in memory, which is borrowed. */
struct elffile *elffile_memory(const void *, size_t n);
void elffile_close(struct elffile *);

/* Opens a file for another library: a path of a profile may name a pipe, which
 * must not be waited for. Returns the descriptor, which the caller closes, or
 * -1, not reported, with errno; ENOEXEC: not a regular file. */
int elffile_descriptor(const char *path);

#define ELFFILE_ID 20

/* Writes the build-id. Returns its length, up to ELFFILE_ID, or 0. */
size_t elffile_build_id(const struct elffile *, unsigned char id[ELFFILE_ID]);

/* Same, from the contents of notes such as /sys/kernel/notes. */
size_t elffile_note_id(const void *, size_t n, unsigned char id[ELFFILE_ID]);

/* Convert a file offset of code to its link-time address and back. Return false
 * if no code is there. */
bool elffile_address(const struct elffile *, uint64_t offset, uint64_t *at);
bool elffile_offset(const struct elffile *, uint64_t at, uint64_t *offset);

/* Returns the first segment of code, borrowed, or NULL. */
const unsigned char *elffile_code(const struct elffile *, size_t *n);

struct elffile_symbol {
	const char *name; /* borrowed until the file is closed */
	uint64_t at, size;
	unsigned type, bind; /* STT_FUNC etc. and STB_GLOBAL etc. of elf.h */
};

typedef void elffile_see(void *arg, const struct elffile_symbol *);

/*
 * Calls 'see' for the defined functions and variables of a table, SHT_SYMTAB or
 * SHT_DYNSYM, and for visible labels in its sections of code and data. Returns
 * false if the file has no such table.
 */
bool elffile_symbols(
    const struct elffile *, uint32_t table, elffile_see *see, void *arg);

/* Same for the stubs of calls into libraries, named as what they call. */
void elffile_stubs(const struct elffile *, elffile_see *see, void *arg);

#endif
