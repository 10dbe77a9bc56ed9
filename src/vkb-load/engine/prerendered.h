/*
 * The requests of a command, one for each row, or with values that differ,
 * rendered in advance except for numbers and tags: consecutive ones are copied
 * at once, or are where they are sent from, and patched. Private to template.c,
 * render.c and mix.c.
 */
#ifndef PRERENDERED_H
#define PRERENDERED_H

#include <stddef.h>
#include <stdint.h>

struct compiled;
struct arena;
struct engine_work;
struct template;

struct prerendered {
	const char *bytes;  /* CMDSOURCE_SLACK more may be read */
	size_t count;       /* of requests */
	size_t places;      /* of those that differ, if by values */
	const uint64_t *at; /* offset of each request, and the end */
	/*
	 * The offset of each number and tag in its request, one for each patch.
	 * NULL: the same in all requests, see piece.at.
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

/*
 * The same for a command without fields. If its values differ from request to
 * request, as many as fit into 1 MiB, and the first ones again behind them if
 * it is not of a mix; otherwise one. Returns NULL if it has ranges, or if its
 * values are too long, have sizes too rare for that, or depend on keys that
 * come in order, or if all commands would take more than 64 MiB.
 */
struct prerendered *prerendered_new_values(const struct template *,
    const struct compiled *, const struct engine_work *);
void prerendered_free(struct prerendered *);

#endif
