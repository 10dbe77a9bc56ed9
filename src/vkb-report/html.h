/*
 * Pieces of a page. Every text goes through here, escaped.
 */
#ifndef HTML_H
#define HTML_H

#include <stddef.h>

#include "err.h"

struct json;
struct str;
struct subject;

/* The text alone, escaped. */
void html_text(struct str *, const char *);
void html_printf(struct str *, const char *fmt, ...) ERR_PRINTF(2, 3);

/* <tag class="class">text</tag>; class NULL: none. */
void html_tag(
    struct str *, const char *tag, const char *class, const char *text);

/* The head of a table's column. */
void html_column(struct str *, const char *text);

/* A number for people, in the unit of its metric; "-" for NAN. */
void html_number(struct str *, double v);

/* A record's value: a text as it is, anything else as JSON. */
void html_value(struct str *, const struct json *);

/* The name of a subject, with a link to its commit where one is known. 'url' is
 * what stands before the commit's id; NULL: that of its repository. */
void html_subject(struct str *, const struct subject *, const char *url);

/* 0: it is a URL that a link may have. */
int html_url(const char *);

#endif
