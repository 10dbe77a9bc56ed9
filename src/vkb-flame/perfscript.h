/* Reads perf.data files with `perf script`. */
#ifndef PERFSCRIPT_H
#define PERFSCRIPT_H

struct folding;

/*
 * Runs `perf script` on the file and reads its output. Returns 0, or -1 after
 * reporting that perf is not installed or failed, or what perftext_read
 * reports; what perf printed before it failed is read.
 */
int perfscript_read(const char *file, struct folding *);

#endif
