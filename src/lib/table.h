/*
 * Text tables for terminals: columns as wide as their widest cell, two blanks
 * between them, no blanks at the end of a line. Widths are those of a terminal
 * (UTF-8, wide and combining characters); control characters are shown as
 * \xHH.
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

/* All columns come before the first cell. */
void table_column(struct table *, const char *title, enum table_align);

/* The next cell; a row ends with its last column. */
void table_cell(struct table *, const char *text);

/* How the last cell looks where colours are wanted: SGR codes, "31". */
void table_style(struct table *, const char *sgr);

/* Adds the lines, titles first; nothing where there are no rows. */
void table_print(const struct table *, struct str *, bool colour);

/* Columns that the widest line takes on a terminal. */
size_t table_columns(const struct table *);

#endif
