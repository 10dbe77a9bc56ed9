/*
 * Adds records to an archive, each once.
 */
#ifndef ADDING_H
#define ADDING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Adds runs, summaries, profiles and builds to the file of their subject, env
 * records to the files of the runs of their session, and commit records to
 * ARCHIVE_COMMITS. Records that are there are not added again; runs are
 * compared by the keys of vkb-pgpush(1), others as a whole. n = 0: reads stdin.
 * Returns -1, after reporting it, if something could not be read or written;
 * the rest is added.
 */
int adding_files(
    const char *dir, const char *const *files, size_t n, bool quiet);

#endif
