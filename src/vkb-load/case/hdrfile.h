/*
 * A log of HdrHistogram (--hdr): the latencies of each interval of each
 * measured run, in ns, tagged with the case. Readers of other programs add up
 * the intervals of a tag.
 */
#ifndef HDRFILE_H
#define HDRFILE_H

#include <stdbool.h>

struct engine_ended;
struct hdrfile;

/*
 * Opens a file to append, and begins a log in it. Tags name the build, too, if
 * there are several. The path is borrowed. Returns NULL after reporting an
 * error.
 */
struct hdrfile *hdrfile_open(const char *path, bool builds);

/* Returns 0, or -1 if an interval could not be written, which was reported.
 * NULL does nothing. */
int hdrfile_close(struct hdrfile *);

/* Adds an interval of a case, or of a role of it. After an error was reported
 * nothing is written. */
void hdrfile_add(struct hdrfile *, const char *name, const char *build,
    const struct engine_ended *);

#endif
