/*
 * Reads the articles of a wiki dump (XML of MediaWiki's export) in order, as
 * the Python tool does: all pages whose text is not empty and does not begin
 * with #REDIRECT.
 */
#ifndef ARTICLES_H
#define ARTICLES_H

#include <stddef.h>

#include "str.h"

struct articles;

struct article {
	struct str text; /* still escaped for XML */
};

/* 'threads' threads decompress the file. Returns NULL (error reported). */
struct articles *articles_open(const char *file, size_t threads);
void articles_close(struct articles *);

/* Fills *a, which starts as {0}. Returns 1, 0 at the end, -1 (reported). */
int articles_read_next(struct articles *, struct article *a);
void article_free(struct article *);

/* Replaces *out by the text, without the escapes of XML. */
void article_decode(const struct article *, struct str *out);

#endif
