/*
 * Reads a file or stdin, by lines or whole, after a look at its beginning.
 * Errors name FILE:LINE.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct json;
struct source;

/* "-" is stdin. Returns NULL (error reported). */
struct source *source_open(const char *file);
void source_close(struct source *);

const char *source_name(const struct source *);

/*
 * Returns the next *n bytes without consuming them: at least 'want', or all
 * that there are. NULL (error reported). Borrowed until the next call.
 */
const char *source_peek(struct source *, size_t want, size_t *n);

/*
 * Sets *line to the next line, without its line break; borrowed until the next
 * call. Returns 1, 0 at the end, or -1 (error reported) if the line is not
 * UTF-8 or contains a NUL (the next one may be valid), reading failed (the end
 * follows), or the line is torn and not blank. If 'matters' is not NULL, torn
 * lines are accepted for which it returns false.
 */
int source_read_line(
    struct source *, char **line, bool (*matters)(const char *line));

/* The same with the line break, for csvrows.h; 'source' is a struct source. */
int source_read_raw_line(void *source, const char **line, size_t *n);

/* Returns which of the characters is most frequent in the first line of text,
 * or the first of them if that line has none. */
char source_find_separator(const char *text, const char *which);

/* Returns true if the last line lacks its line break: the input is truncated.
 */
bool source_is_torn(const struct source *);

/*
 * Parses the next JSON value; caller frees. NULL (error reported). NaN and
 * Infinity, which some tools write, become null. source_has_more returns true
 * if another value follows.
 */
struct json *source_parse_json(struct source *);
bool source_has_more(struct source *);

/* Names the part of the JSON value that is being parsed, "times[3]", and takes
 * the name. Returns source_where. */
const char *source_set_part(struct source *, char *part);

/*
 * Returns "FILE:LINE" of the last line, "FILE:PART" after source_set_part, or
 * FILE before both; borrowed until the next call.
 */
const char *source_where(struct source *);

/* Returns 0 if it is an object, null or absent (NULL), or else -1 (error
 * reported): only members of an object have keys. */
int source_check_object(struct source *, const char *name, const struct json *);

/* Reports "WHERE: ..." with source_where, and returns -1. */
int source_fail(struct source *, const char *fmt, ...) ERR_PRINTF(2, 3);

#endif
