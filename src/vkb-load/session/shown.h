/*
 * A session whose output is a terminal: the records go to a new file in the
 * working folder, and the terminal gets a table of them.
 */
#ifndef SHOWN_H
#define SHOWN_H

#include <stdbool.h>

/* Makes the file: runs.jsonl, or runs-2.jsonl if that exists, and so on. Says
 * its name unless 'quiet'. Returns its name, caller frees; or NULL, error
 * reported. */
char *shown_make_file(bool quiet);

/* Writes the table of the file to stdout, or removes the file if it is empty.
 * 0, or -1, error reported. */
int shown_write_table(const char *path);

#endif
