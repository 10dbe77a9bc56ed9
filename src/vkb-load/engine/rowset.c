#include "rowset.h"
#include "arena.h"
#include "digits.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#define BULK_EXTRA (DIGITS_MOST + 5) /* "$", the length, two CR LF */

struct rowset {
	char **fields;
	size_t nfields;
	struct arena *bytes, *index; /* rows; where each begins */
	uint64_t rows;
	size_t longest;
};

struct rowset *
rowset_new(const char *const *fields)
{
	struct rowset *d = mem_new(sizeof *d);
	size_t i;

	while (fields[d->nfields])
		d->nfields++;
	d->fields = mem_array(d->nfields + 1, sizeof *d->fields);
	for (i = 0; i < d->nfields; i++)
		d->fields[i] = mem_str(fields[i]);
	d->bytes = arena_new(0);
	d->index = arena_new(0);
	return d;
}

void
rowset_free(struct rowset *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nfields; i++)
		free(d->fields[i]);
	free(d->fields);
	arena_free(d->bytes);
	arena_free(d->index);
	free(d);
}

static size_t
put_bulk(char *p, const char *value, size_t n)
{
	size_t k = digits_line(p, '$', n);

	if (n)
		memcpy(p + k, value, n);
	memcpy(p + k + n, "\r\n", 2);
	return k + n + 2;
}

int
rowset_add(struct rowset *d, const struct rowset_value *values)
{
	size_t head = d->nfields * sizeof(uint32_t), room = head, i, at = 0;
	uint64_t begin = arena_size(d->bytes);
	uint32_t end;
	char *p;

	for (i = 0; i < d->nfields; i++)
		room += values[i].n + BULK_EXTRA;
	p = arena_room(d->bytes, room + sizeof end);
	if (!p || arena_add(d->index, &begin, sizeof begin) < 0)
		return -1;
	for (i = 0; i < d->nfields; i++) {
		at += put_bulk(p + head + at, values[i].bytes, values[i].n);
		end = (uint32_t)at;
		memcpy(p + i * sizeof end, &end, sizeof end);
	}
	if (at > d->longest)
		d->longest = at;
	at = (head + at + sizeof end - 1) / sizeof end * sizeof end;
	arena_keep(d->bytes, at);
	d->rows++;
	return 0;
}

uint64_t
rowset_count(const struct rowset *d)
{
	return d->rows;
}

bool
rowset_is_of(const struct rowset *d, const char *const *fields)
{
	size_t i;

	for (i = 0; i < d->nfields && fields[i]; i++)
		if (strcmp(d->fields[i], fields[i]) != 0)
			return false;
	return i == d->nfields && !fields[i];
}

size_t
rowset_mean(const struct rowset *d)
{
	return arena_size(d->bytes) / d->rows;
}

size_t
rowset_longest(const struct rowset *d)
{
	return d->longest;
}

struct rowset_row
rowset_row(const struct rowset *d, uint64_t i)
{
	struct rowset_row r;
	uint64_t at;

	memcpy(&at, arena_bytes(d->index) + i * sizeof at, sizeof at);
	r.ends = (const uint32_t *)(const void *)(arena_bytes(d->bytes) + at);
	r.bytes = (const char *)(r.ends + d->nfields);
	return r;
}

const char *
rowset_value(const char *bulk, size_t *n)
{
	const char *p = bulk;

	while (*p != '\r')
		p++;
	*n -= (size_t)(p - bulk) + 4;
	return p + 2;
}
