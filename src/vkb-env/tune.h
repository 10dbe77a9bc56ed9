/*
 * Settings changed for a while. What they were stands in the state file before
 * the first of them is changed, until all are back.
 */
#ifndef TUNE_H
#define TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tune {
	const char *root;  /* as in sysfile.h */
	const char *state; /* path of the state file */
	bool quiet;        /* say nothing but errors */
};

/*
 * Makes all settings, or those named, as they should be; all or none. 'pid' is
 * the process that will restore them, 0: whoever asks for it. What such a
 * process left behind when it died is restored first. 0, or -1 and said:
 * nothing is changed.
 */
int tune_apply(const struct tune *, char *const *names, size_t n, pid_t pid);

/*
 * Back to what was. What somebody else has set since stays, which is said, and
 * -1. The file goes unless something could not be written. 0 without one.
 */
int tune_restore(const struct tune *);

#endif
