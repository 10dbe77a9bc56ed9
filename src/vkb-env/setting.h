/*
 * Settings that can be changed on a running machine, and their values for
 * measuring. 'root' is as in sysfile.h.
 */
#ifndef SETTING_H
#define SETTING_H

#include <stdbool.h>
#include <stddef.h>

struct setting {
	const char *name;    /* NULL ends the table */
	const char *pattern; /* files; or several entries of one name */
	const char *wanted;
	bool (*fine)(const char *root, const char *path, const char *now);
};

/* In the order in which they are set. */
extern const struct setting setting_table[];

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

/* Returns true if this machine has files of the setting. */
bool setting_known(const char *root, const char *name);

/* Returns the setting of a file, or NULL: no other file is written. */
const struct setting *setting_of(const char *path);

/* Returns the value in a file, or NULL. The caller frees it. */
char *setting_read(const char *root, const char *path);

/* Writes a value. Returns 0, or -1 with errno; EINVAL: it did not stay. */
int setting_write(const char *root, const char *path, const char *value);

void setting_edits_add(struct edits *, const char *path, const char *old,
    const char *new, const char *name);
void setting_edits_free(struct edits *);

#endif
