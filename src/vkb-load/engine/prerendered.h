/*
 * The requests of a command, one for each row, rendered in advance except for
 * numbers and tags: consecutive rows are copied at once and patched. Private to
 * template.c and render.c.
 */
#ifndef PRERENDERED_H
#define PRERENDERED_H

#include <stddef.h>
#include <stdint.h>

struct compiled;
struct arena;
struct template;

struct prerendered {
	const char *bytes;  /* CMDSOURCE_SLACK more may be read */
	const uint64_t *at; /* offset of each row, and the end */
	/*
	 * The offset of each number and tag in its row, one for each patch.
	 * NULL: the same in all rows, see piece.at.
	 */
	const uint32_t *offsets;
	struct arena *bytes_file, *at_file, *offsets_file;
};

/*
 * Returns NULL if the command has no field, or if all rows would need more than
 * 'most' bytes.
 */
struct prerendered *prerendered_new(
    const struct template *, const struct compiled *, size_t most);
void prerendered_free(struct prerendered *);

#endif
