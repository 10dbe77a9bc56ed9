/*
 * Records into a shelf, each once.
 */
#ifndef ADDING_H
#define ADDING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs, summaries, profiles and builds to the file of their subject, env
 * records to those of the runs that were under them, commit records to theirs.
 * What is there already is not added again: runs are known as vkb-pgpush(1)
 * knows them, others as a whole. 0; -1, and said: something could not be read
 * or written, and all else is there. No FILE is stdin.
 */
int adding_files(
    const char *dir, const char *const *files, size_t n, bool quiet);

#endif
