/*
 * Escapes untrusted text for the format it is written to. Each function first
 * applies str_visible: the text added has no line breaks, control characters
 * or direction marks, and is UTF-8.
 */
#ifndef MARKUP_H
#define MARKUP_H

#include <stddef.h>

#include "err.h"

struct str;

/*
 * Markdown of GitHub and GitLab, in a paragraph, list or table cell: nothing in
 * the text becomes markup, HTML, a link, a mention, a reference, an emoji or a
 * formula. Text longer than MARKUP_LONGEST bytes is cut.
 */
enum { MARKUP_LONGEST = 240 };
void markup_markdown(struct str *, const char *);
void markup_markdown_whole(struct str *, const char *); /* never cut */

/* Adds up to 'most' bytes; cuts between characters and then adds "...". */
void markup_cut(struct str *, const char *, size_t most);

/* XML 1.0 and HTML: between tags and in attributes. */
void markup_xml(struct str *, const char *);

/* Adds XML or HTML by a format, whose texts (%s) are escaped by markup_xml. The
 * other conversions that it knows are %zu, %d, %.1f (any digit) and %%. */
void markup_printf(struct str *, const char *fmt, ...) ERR_PRINTF(2, 3);

/*
 * One cell of CSV (RFC 4180), quoted where necessary. A ' is put before text
 * that a spreadsheet would run as a formula; so write numbers without this.
 */
void markup_csv(struct str *, const char *);

/* The value of an OpenMetrics label, without its quotes. A backslash is doubled
 * before escaping, so that different texts give different values. */
void markup_label(struct str *, const char *);

/* GitHub's workflow commands: "::error PROPERTY=...::MESSAGE". */
void markup_message(struct str *, const char *);
void markup_property(struct str *, const char *);

#endif
