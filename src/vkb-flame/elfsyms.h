/* Symbols of 64-bit ELF files in this machine's byte order. */
#ifndef ELFSYMS_H
#define ELFSYMS_H

#include <stddef.h>
#include <stdint.h>

struct elfsyms;

/* Returns NULL without a message if the file is missing or not such a file. */
struct elfsyms *elfsyms_open(const char *path);
/* Same, for a file in memory, which is borrowed. */
struct elfsyms *elfsyms_memory(const void *, size_t n);
void elfsyms_close(struct elfsyms *);

#define ELFSYMS_ID 20

/* Writes the build-id. Returns its length, at most ELFSYMS_ID; 0: none. */
size_t elfsyms_build_id(const struct elfsyms *, unsigned char id[ELFSYMS_ID]);

/* Same, from the contents of notes such as /sys/kernel/notes. */
size_t elfsyms_note_id(
    const unsigned char *p, size_t n, unsigned char id[ELFSYMS_ID]);

/* Returns the link-time address of a byte at a file offset. */
uint64_t elfsyms_address(const struct elfsyms *, uint64_t offset);

/* Returns the function at a link-time address, as perf shows it (borrowed), or
 * NULL if unknown. */
const char *elfsyms_find(struct elfsyms *, uint64_t address);

/* Uses the symbols of the debug file of the same build, if it has a full table.
 * Takes ownership of 'debug'. */
void elfsyms_join(struct elfsyms *, struct elfsyms *debug);

#endif
