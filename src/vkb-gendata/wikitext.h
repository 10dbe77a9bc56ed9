/*
 * Converts MediaWiki markup to the prose that a reader sees, on one line.
 * Templates, tables, references, comments, pictures, categories and formulas
 * are left out; links and emphasis become their texts.
 */
#ifndef WIKITEXT_H
#define WIKITEXT_H

#include <stddef.h>

struct str;

/* Appends the plain text. Time and memory are linear in n for any input. */
void wikitext_append_plain(struct str *, const char *s, size_t n);

/* Appends XML text with its entities (&lt; and the like) decoded. */
void wikitext_append_unescaped(struct str *, const char *s, size_t n);

#endif
