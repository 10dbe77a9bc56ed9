/* HTML fragments. All text that is given to these functions is escaped. */
#ifndef HTML_H
#define HTML_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct str;

/*
 * The style sheet and the script of flame graphs. vkb-flame puts them into its
 * documents as they are; a page that shows such a document in a frame allows
 * these, and no other ones, by their hashes.
 */
const char *html_flame_style(void);
const char *html_flame_script(void);

/* A page with the style sheet and the script of all pages, and with its own. */
struct html_page {
	const char *title;
	const char *program;        /* that makes it */
	const char *style, *script; /* of this page only; may be NULL */
	bool flames;                /* has flame graphs in frames */
};

/* Begins a page: all before the content of its body. A content security policy
 * allows these styles and scripts alone, and in frames those of flame graphs.
 * html_end ends it. */
void html_begin(struct str *, const struct html_page *);
void html_end(struct str *, const struct html_page *);

/* A choice above a table: keeps rows that have one of the values among the
 * words of their attribute data-KEY. Values have no blanks. */
struct html_filter {
	const char *key, *label;
	const char *const *values, *const *texts; /* for people */
	size_t n;
};

/*
 * Begins what holds a table, from html_table to html_table_end. The script
 * sorts the table by a column, which is its data-v as a number or else its
 * text, and shows 'page' rows at once. 'find' is the label of the field that
 * searches the first cells; NULL: no field, and no filters. Without the script
 * all is shown.
 */
void html_browse(struct str *, size_t page, const char *find,
    const struct html_filter *, size_t n);
void html_browse_end(struct str *);

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

/* Appends a number for people, such as 1.04M; "-" for NAN. */
void html_number(struct str *, double v);

/* Appends a cell of a number, by which its column is sorted. */
void html_number_cell(struct str *, double v);

/* Appends a value of a record: strings without quotes, the rest as JSON. NULL
 * gives "-". */
void html_value(struct str *, const struct json *);

/* Returns 0 if the URL may be used in a link, else -1 after reporting that the
 * value of the option may not. */
int html_check_url(const char *option, const char *url);

#endif
