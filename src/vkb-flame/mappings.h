/* Processes of a profile: their names, and what is mapped where. */
#ifndef MAPPINGS_H
#define MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

struct mappings;

struct mapping {
	uint64_t start, end, offset;
	size_t file; /* as the caller numbers them */
};

struct mappings *mappings_new(void);
void mappings_free(struct mappings *);

/* What was mapped there before is not any more. */
void mappings_add(struct mappings *, uint32_t pid, struct mapping);

/* The new process has what the old one had; a thread shares it. */
void mappings_fork(struct mappings *, uint32_t pid, uint32_t tid,
    uint32_t parent, uint32_t parent_tid);

/* NULL: nothing is there. */
const struct mapping *mappings_find(
    const struct mappings *, uint32_t pid, uint64_t at);

void mappings_name(struct mappings *, uint32_t tid, const char *name);
const char *mappings_named(const struct mappings *, uint32_t tid); /* or NULL */

#endif
