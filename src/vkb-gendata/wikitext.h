/*
 * The markup of MediaWiki as plain text: what a reader sees of the prose, on
 * one line. Templates, tables, references, comments, pictures, categories and
 * formulas are left out; links and emphasis are their texts.
 */
#ifndef WIKITEXT_H
#define WIKITEXT_H

#include <stddef.h>

struct str;

/* Adds the plain text. Time and memory are linear in n, whatever it holds. */
void wikitext_plain(struct str *, const char *s, size_t n);

/* Adds what stands in XML: &lt; and the like are what they mean. */
void wikitext_from_xml(struct str *, const char *s, size_t n);

#endif
