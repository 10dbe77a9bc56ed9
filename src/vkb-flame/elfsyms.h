/* The symbols of an ELF file of 64 bits and this machine's byte order. */
#ifndef ELFSYMS_H
#define ELFSYMS_H

#include <stddef.h>
#include <stdint.h>

struct elfsyms;

/* NULL, and nothing said: there is no such file, or it is none. */
struct elfsyms *elfsyms_open(const char *path);
/* The same of what is in memory, borrowed. */
struct elfsyms *elfsyms_memory(const void *, size_t n);
void elfsyms_close(struct elfsyms *);

#define ELFSYMS_ID 20

/* Its length, at most ELFSYMS_ID; 0: it has none. */
size_t elfsyms_build_id(const struct elfsyms *, unsigned char id[ELFSYMS_ID]);

/* The same of notes, as /sys/kernel/notes. */
size_t elfsyms_note_id(
    const unsigned char *p, size_t n, unsigned char id[ELFSYMS_ID]);

/* The address that the byte at a file offset is linked to. */
uint64_t elfsyms_address(const struct elfsyms *, uint64_t offset);

/* The function at an address it is linked to, as perf shows it; borrowed.
 * NULL: none is known. */
const char *elfsyms_find(struct elfsyms *, uint64_t address);

/* Takes the symbols of another file of the same build (its debug file), where
 * that has a full table. The other is taken. */
void elfsyms_join(struct elfsyms *, struct elfsyms *debug);

#endif
