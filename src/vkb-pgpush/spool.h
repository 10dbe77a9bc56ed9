/*
 * Keeps the runs to be stored in a scratch file, each flattened to values by
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
/* Most bytes of a record: the server rejects much larger values. */
#define SPOOL_RECORD_MAX ((size_t)1 << 28)

struct spool_column {
	char *key, *name; /* its name in the flat form, and in SQL */
	struct coltype_summary summary;
	size_t n; /* rows that have a value */
	bool own; /* some have it outside their frame */
};

struct spool_value {
	enum coltype_value kind; /* 0: absent */
	const char *text;
	size_t len;
};

struct spool *spool_new(const char *tmpdir);
void spool_free(struct spool *);

/*
 * A frame holds the values that rows share. spool_begin_frame begins one, whose
 * values follow, and returns its number, unless spool_is_full. Frame 0 is
 * empty.
 */
#define SPOOL_FRAMES 4096
size_t spool_begin_frame(struct spool *);
bool spool_is_full(const struct spool *);

/*
 * Begins a row; 'where' is FILE:LINE for messages. Its values follow, without
 * those of its frame. spool_end_row returns 0, or -1 (error reported).
 */
void spool_begin_row(struct spool *, const char *where, size_t frame);
int spool_end_row(struct spool *);

/* Add a value; nulls are left out. spool_put_own is for our own columns. */
void spool_put_json(struct spool *, const char *key, const struct json *);
void spool_put_own(struct spool *, size_t column, enum coltype_value,
    const char *text, size_t len);

/*
 * The same by the number of a column, which spool_get_column returns.
 * spool_frame_has tells whether the frame has a value or null for it.
 */
size_t spool_get_column(struct spool *, const char *key);
void spool_put_text(
    struct spool *, size_t column, const char *text, size_t len);
void spool_put_number(struct spool *, size_t column, double);
bool spool_frame_has(const struct spool *, size_t frame, size_t column);

size_t spool_count_rows(const struct spool *);
const struct spool_column *spool_get_columns(const struct spool *, size_t *n);

const struct intern *spool_get_sessions(const struct spool *);

/* Returns the number of frames, and a frame's values, one for each column. */
size_t spool_count_frames(const struct spool *);
const struct spool_value *spool_frame_values(
    const struct spool *, size_t frame);

struct spool_row {
	const char *where;
	size_t frame;
	const struct spool_value *own; /* value for each column */
};

/* Returns the row's value in a column, its own or its frame's. */
const struct spool_value *spool_find_value(
    const struct spool *, const struct spool_row *, size_t column);

/*
 * Read the rows from the start. spool_next returns 1, 0 at the end, or -1
 * (error reported); its row is borrowed until the next call.
 */
void spool_rewind(struct spool *);
int spool_next(struct spool *, struct spool_row *);

#endif
