/*
 * What a command has of a row, from its first field to its last, written
 * beforehand: one piece to copy for each request instead of many. Private to
 * template.c and fill.c.
 */
#ifndef COOKED_H
#define COOKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shape;
struct swapfile;
struct template;

struct cooked {
	size_t first, end;  /* of the pieces it stands for */
	bool others;        /* other pieces are of the row too */
	const char *bytes;  /* TEMPLATE_SLACK more may be read */
	const uint64_t *at; /* where each row begins, and where the last ends */
	struct swapfile *bytes_file, *at_file;
};

/*
 * Those pieces of the shape, where there are several fields and nothing between
 * them changes from request to request. NULL: there are none, or all rows would
 * take more than 256 MB.
 */
struct cooked *cooked_new(const struct template *, const struct shape *);
void cooked_free(struct cooked *);

#endif
