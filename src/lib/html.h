/* HTML fragments. All text that is given to these functions is escaped. */
#ifndef HTML_H
#define HTML_H

#include <stddef.h>

struct json;
struct str;

/* Appends the text, escaped. */
void html_text(struct str *, const char *);

/* Appends <tag class="class">text</tag>; 'class' may be NULL. */
void html_tag(
    struct str *, const char *tag, const char *class, const char *text);

/*
 * Begins a table that can be scrolled: its label for screen readers, a caption
 * (or NULL) and the heads of its columns: "case|>runs" are two, the second
 * of numbers. The n 'names' are further heads.
 */
void html_table(struct str *, const char *label, const char *caption,
    const char *columns, const char *const *names, size_t n);
void html_table_end(struct str *);

/* Begins a row of a table by its head. */
void html_row(struct str *, const char *head);

/* Appends each member of an object as a term and its definition. */
void html_members(struct str *, const struct json *);

/* Appends a number in the unit of its metric; "-" for NAN. */
void html_number(struct str *, double v);

/* Appends a value of a record: strings without quotes, the rest as JSON. NULL
 * gives "-". */
void html_value(struct str *, const struct json *);

/* Appends 'sha256-...', by which a content security policy allows a style or a
 * script. */
void html_source_hash(struct str *, const char *text);

/* Returns 0 if the URL may be used in a link, else -1 after reporting that the
 * value of the option may not. */
int html_check_url(const char *option, const char *url);

#endif
