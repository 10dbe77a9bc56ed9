/*
 * The servers of an earlier measurement, measured again beside new ones.
 */
#ifndef AGAIN_H
#define AGAIN_H

#include <stdbool.h>

struct builds;

/*
 * Adds the servers of the runs in 'file' to the builds, with their names; one
 * without label, ref and commit, or with those of a build, is labelled
 * "baseline", and a build without any "new". The file of a server is that of
 * its runs, or FILE.server, whichever still has their SHA-256. Says what is
 * measured again, and first if it is the same as a build, unless 'quiet'. 0, or
 * -1, error reported.
 */
int again_read(struct builds *, const char *file, bool quiet);

#endif
