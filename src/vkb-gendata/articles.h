/*
 * The articles of a dump of a wiki (the XML of MediaWiki's export), in order:
 * pages of the main namespace that redirect nowhere and have a text.
 */
#ifndef ARTICLES_H
#define ARTICLES_H

#include <stddef.h>
#include <stdint.h>

#include "str.h"

struct articles;

struct article {
	struct str title, text; /* as they stand in the XML */
};

/* 'threads' of its own decompress. NULL, and said. */
struct articles *articles_open(const char *file, size_t threads);
void articles_close(struct articles *);

/* Fills *a, which starts as {0}. 1; 0: no more; -1, and said. One thread. */
int articles_next(struct articles *, struct article *a);
void article_free(struct article *);

/* Replaces *out by the plain text; the title, where there is no other. */
void article_plain(const struct article *, struct str *out);

#endif
