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
struct names;
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

/* Bytes of the longest session that can be part of a key. */
#define SPOOL_SESSION_MAX 255
/* Bytes of a record: the server takes no value that is much larger. */
#define SPOOL_RECORD_MAX ((size_t)1 << 28)

struct spool_column {
	char *key, *name; /* in the flat form, in SQL */
	struct coltype_seen seen;
	size_t n;   /* rows that have it */
	bool alone; /* some of them have it on their own */
};

struct spool_value {
	enum coltype_value kind; /* 0: absent */
	const char *text;
	size_t len;
};

struct spool *spool_new(const char *tmpdir);
void spool_free(struct spool *);

/*
 * What rows have in common is a frame, made of the values that follow; 0 is
 * the empty one. There may be SPOOL_FRAMES of them; then it is full.
 */
#define SPOOL_FRAMES 4096
size_t spool_frame(struct spool *);
bool spool_full(const struct spool *);

/*
 * A row begins, with its place for messages; its values follow, but for those
 * of the frame. spool_end: 0, or -1 and said.
 */
void spool_row(struct spool *, const char *where, size_t frame);
int spool_end(struct spool *);

/* Nulls are left out. spool_own: for the columns above. */
void spool_put(struct spool *, const char *key, const struct json *);
void spool_own(struct spool *, size_t column, enum coltype_value,
    const char *text, size_t len);

/* By the number of a column; and is it the frame's, with a value or null? */
size_t spool_column(struct spool *, const char *key);
void spool_text(struct spool *, size_t column, const char *text, size_t len);
void spool_number(struct spool *, size_t column, double);
bool spool_framed(const struct spool *, size_t frame, size_t column);

size_t spool_rows(const struct spool *);
const struct spool_column *spool_columns(const struct spool *, size_t *n);

const struct names *spool_sessions(const struct spool *, size_t *n);

/* Of a frame, one value for each column. */
size_t spool_frames(const struct spool *);
const struct spool_value *spool_common(const struct spool *, size_t frame);

struct spool_row {
	const char *where;
	size_t frame;
	const struct spool_value *alone; /* for each column; the frame's not */
};

/* What the row has in a column, of its own or by its frame. */
const struct spool_value *spool_get(
    const struct spool *, const struct spool_row *, size_t column);

/*
 * Reads it from the start: a row is borrowed until the next call. 1, 0 at the
 * end, -1 and said.
 */
void spool_rewind(struct spool *);
int spool_next(struct spool *, struct spool_row *);

#endif
