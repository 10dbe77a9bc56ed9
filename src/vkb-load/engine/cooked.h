/*
 * The requests of a command, one for each row, written beforehand but for
 * their numbers and tags: rows that follow one another are copied in one piece
 * and patched. Private to template.c and fill.c.
 */
#ifndef COOKED_H
#define COOKED_H

#include <stddef.h>
#include <stdint.h>

struct shape;
struct arena;
struct template;

struct cooked {
	const char *bytes;  /* TEMPLATE_SLACK more may be read */
	const uint64_t *at; /* where each row begins, and where the last ends */
	/*
	 * Where in a row each number and tag stands, npatches for each row.
	 * NULL: in all alike, where the pieces say.
	 */
	const uint32_t *places;
	uint32_t npatches;
	struct arena *bytes_file, *at_file, *places_file;
};

/* NULL: the shape has no field, or all rows would take more than 'most' bytes.
 */
struct cooked *cooked_new(
    const struct template *, const struct shape *, size_t most);
void cooked_free(struct cooked *);

#endif
