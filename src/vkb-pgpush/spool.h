/*
 * Keeps the runs to be stored in a temporary file, each flattened to values by
 * column: the types of columns are known only after all runs were read.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "coltype.h"

struct json;
struct intern;
struct spool;

/* Our own columns, which come before all others. */
enum {
	SPOOL_SESSION,
	SPOOL_CASE,
	SPOOL_SUBJECT,
	SPOOL_INDEX,
	SPOOL_TYPE,
	SPOOL_RECORD,
	SPOOL_OWN
};

/* Most bytes of a session in a key. */
#define SPOOL_SESSION_MAX 255
/* How a session begins that is made of the whole run, and the hash of it. */
#define SPOOL_OBJECT "object "
/* Most bytes of a record: the server rejects much larger values. */
#define SPOOL_RECORD_MAX ((size_t)1 << 28)

struct spool_column {
	char *key, *name; /* its name in the flat form, and in SQL */
	struct coltype_summary summary;
	size_t n;      /* rows that have a value */
	bool measured; /* some have it as a metric */
};

struct spool_value {
	enum coltype_value kind; /* 0: absent */
	const char *text;
	size_t len;
};

struct spool *spool_new(const char *tmpdir);
void spool_free(struct spool *);

/*
 * Begins a row; 'where' is FILE:LINE for messages. Its values follow.
 * spool_end_row returns 0, or -1 (error reported).
 */
void spool_begin_row(struct spool *, const char *where);
int spool_end_row(struct spool *);

/* Add a value; nulls are left out. spool_put_own is for our own columns. */
void spool_put_json(struct spool *, const char *key, const struct json *);
void spool_put_own(struct spool *, size_t column, enum coltype_value,
    const char *text, size_t len);

/* Notes that the column of a key is that of a metric. */
void spool_note_metric(struct spool *, const char *key);

/* Returns the number of a column, which is made if it is missing. */
size_t spool_get_column(struct spool *, const char *key);

size_t spool_count_rows(const struct spool *);
const struct spool_column *spool_get_columns(const struct spool *, size_t *n);

const struct intern *spool_get_sessions(const struct spool *);

struct spool_row {
	const char *where;
	const struct spool_value *values; /* one for each column */
};

/*
 * Read the rows from the start. spool_rewind returns 0, spool_next 1 or 0 at
 * the end, both -1 (error reported); a row is borrowed until the next call.
 */
int spool_rewind(struct spool *);
int spool_next(struct spool *, struct spool_row *);

#endif
