/* The reply of a server to a command; client.c makes them. */
#ifndef REPLY_H
#define REPLY_H

#include <stdbool.h>
#include <stddef.h>

struct reply;

enum reply_type {
	REPLY_ERROR,
	REPLY_TEXT,
	REPLY_INTEGER,
	REPLY_NIL,
	REPLY_ARRAY
};

enum reply_type reply_type(const struct reply *);
const char *reply_text(const struct reply *); /* of errors too, else NULL */
size_t reply_size(const struct reply *);      /* bytes; may hold NUL */
long long reply_integer(const struct reply *);
size_t reply_len(const struct reply *);                       /* elements */
const struct reply *reply_at(const struct reply *, size_t i); /* borrowed */
bool reply_is(const struct reply *, const char *text);        /* "OK", "PONG" */
void reply_free(struct reply *);

/* Returns the value of an INFO field, or NULL; the caller frees it. */
char *reply_info(const struct reply *, const char *field);
double reply_info_number(const struct reply *, const char *field); /* or NAN */

#endif
