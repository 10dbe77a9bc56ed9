/*
 * Temporary changes of settings. The state file has the old values before the
 * first change and until all are restored.
 */
#ifndef TUNE_H
#define TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tune {
	const char *root;  /* as in sysfile.h */
	const char *state; /* path of the state file */
	bool quiet;        /* report errors only */
};

/*
 * Applies all settings, or those named; all or none. 'pid' is the process that
 * will restore them, or 0. First restores the settings of such a process that
 * died. Returns 0, or -1 after reporting why nothing is changed.
 */
int tune_apply(const struct tune *, char *const *names, size_t n, pid_t pid);

/*
 * Restores the old values. Keeps values that were set since, reports
 * them and returns -1. Removes the state file unless a write failed.
 */
int tune_restore(const struct tune *);

/* --- the settings, and their values for measuring */

struct change {
	char *path; /* without 'root' */
	char *old, *new;
	const char *name; /* of the setting; borrowed */
};

struct edits {
	struct change *v;
	size_t n, cap;
};

/* Adds the files that lack the wanted value; 'name' NULL: all settings. */
void tune_find(struct edits *, const char *root, const char *name);

/* Returns true if there is such a setting, here or on another machine. */
bool tune_is_listed(const char *name);

/* Returns true if this machine has files of the setting. */
bool tune_is_known(const char *root, const char *name);

void tune_free_edits(struct edits *);

#endif
