/*
 * Settings that can be changed on a running machine, and their values for
 * measuring. 'root' is as in sysfile.h.
 */
#ifndef SETTING_H
#define SETTING_H

#include <stdbool.h>
#include <stddef.h>

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
void setting_find(struct edits *, const char *root, const char *name);

/* Returns true if there is such a setting, here or on another machine. */
bool setting_listed(const char *name);

/* Returns true if this machine has files of the setting. */
bool setting_known(const char *root, const char *name);

/* Returns the name of a file's setting, or NULL: no other file is written. */
const char *setting_name(const char *path);

/* Writes a value. Returns 0, or -1 with errno; EINVAL: it did not stay. */
int setting_write(const char *root, const char *path, const char *value);

void setting_edits_add(struct edits *, const char *path, const char *old,
    const char *new, const char *name);
void setting_edits_free(struct edits *);

#endif
