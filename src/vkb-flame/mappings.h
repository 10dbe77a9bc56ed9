/* Names and memory mappings of the processes in a profile. */
#ifndef MAPPINGS_H
#define MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

struct mappings;

struct mapping {
	uint64_t start, end, offset;
	size_t file; /* a number that the caller chooses */
};

struct mappings *mappings_new(void);
void mappings_free(struct mappings *);

/* Replaces what was mapped at these addresses. */
void mappings_add(struct mappings *, uint32_t pid, struct mapping);

/* Copies mappings to a new process; a new thread shares them. */
void mappings_fork(struct mappings *, uint32_t pid, uint32_t tid,
    uint32_t parent, uint32_t parent_tid);

/* Returns NULL if nothing is mapped there. */
const struct mapping *mappings_find(
    struct mappings *, uint32_t pid, uint64_t at);

void mappings_set_name(struct mappings *, uint32_t tid, const char *name);
const char *mappings_get_name(struct mappings *, uint32_t tid); /* or NULL */

#endif
