/* HTML fragments. All text in a page is escaped here. */
#ifndef HTML_H
#define HTML_H

#include <stddef.h>

#include "err.h"

struct json;
struct str;
struct subject;

/* Appends the text, escaped. */
void html_text(struct str *, const char *);
void html_printf(struct str *, const char *fmt, ...) ERR_PRINTF(2, 3);

/* Appends <tag class="class">text</tag>; 'class' may be NULL. */
void html_tag(
    struct str *, const char *tag, const char *class, const char *text);

/*
 * Begins a table that can be scrolled: its label for screen readers, a caption
 * (NULL: none) and the heads of its columns, up to NULL.
 */
void html_table(struct str *, const char *label, const char *caption,
    const char *const *columns);
void html_table_end(struct str *);

/* Begins a row of a table by its head. */
void html_row(struct str *, const char *head);

/* Appends each member of an object as a term and its definition. */
void html_members(struct str *, const struct json *);

/* Appends a number in the unit of its metric; "-" for NAN. */
void html_number(struct str *, double v);

/* Appends a value of a record: strings without quotes, the rest as JSON. */
void html_value(struct str *, const struct json *);

/* Appends the name of a subject, with a link to its commit if its page is
 * known. 'url' precedes the commit id; NULL: the URL of its repository. */
void html_subject(struct str *, const struct subject *, const char *url);

/* Returns 0 if the URL may be used in a link, else -1. */
int html_check_url(const char *);

#endif
