/*
 * The runs that are to be stored, each flattened to values by column, in a
 * scratch file: the columns' types are known only when all were read.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "coltype.h"

struct json;
struct spool;

/* Columns of our own, before all others. */
enum {
	SPOOL_SESSION,
	SPOOL_CASE,
	SPOOL_SUBJECT,
	SPOOL_INDEX,
	SPOOL_TYPE,
	SPOOL_RECORD,
	SPOOL_OWN
};

struct spool_column {
	char *key, *name; /* in the flat form, in SQL */
	struct coltype_seen seen;
	size_t n; /* rows that have it */
};

struct spool_value {
	enum coltype_value kind; /* 0: absent */
	const char *text;
	size_t len;
};

struct spool *spool_new(const char *tmpdir);
void spool_free(struct spool *);

/*
 * A row begins, with its place for messages; its values follow, nulls are left
 * out. spool_end: 0, or -1 and said.
 */
void spool_row(struct spool *, const char *where);
void spool_put(struct spool *, const char *key, const struct json *);
void spool_own(
    struct spool *, size_t column, enum coltype_value, const char *text);
int spool_end(struct spool *);

size_t spool_rows(const struct spool *);
const struct spool_column *spool_columns(const struct spool *, size_t *n);

/*
 * Reads it from the start: *where and an array with one value for each column,
 * borrowed until the next call. 1, 0 at the end, -1 and said.
 */
void spool_rewind(struct spool *);
int spool_next(struct spool *, const char **where, const struct spool_value **);

#endif
