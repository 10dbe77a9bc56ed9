/*
 * Text tables for terminals: columns as wide as their widest cell, two blanks
 * between them, no blanks at the end of a line. Widths are terminal columns
 * (UTF-8, wide and combining characters). Cells are shown as by str_visible.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct str;
struct table;

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table *table_new(void);
void table_free(struct table *);

/* Adds a column. Call it before the first table_cell. */
void table_column(struct table *, const char *title, enum table_align);

/* Adds columns: "case|>runs" are two, the second aligned to the right. */
void table_titles(struct table *, const char *titles);

/* Add the next cell, row by row; table_take frees the text. */
void table_cell(struct table *, const char *text);
void table_take(struct table *, char *text);

/* Sets the SGR codes ("31", borrowed) of the last cell, used with 'colour'. */
void table_style(struct table *, const char *sgr);

/* Adds the lines, titles first; adds nothing if there are no rows. */
void table_print(const struct table *, struct str *, bool colour);

/*
 * Adds a table of Markdown, up to the row that would make the string longer
 * than 'limit' bytes. Returns how many rows it has; without any it adds
 * nothing.
 */
size_t table_markdown(const struct table *, struct str *, size_t limit);

/* Returns how many terminal columns the widest line takes. */
size_t table_columns(const struct table *);

#endif
