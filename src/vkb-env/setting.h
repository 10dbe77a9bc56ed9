/*
 * The settings of the machine that can be changed while it runs, and what they
 * should be for measuring. 'root' as in sysfile.h.
 */
#ifndef SETTING_H
#define SETTING_H

#include <stdbool.h>
#include <stddef.h>

struct setting {
	const char *name;    /* NULL ends the table */
	const char *pattern; /* of the files; several alternatives: same name */
	const char *wanted;
	bool (*fine)(const char *root, const char *path, const char *now);
};

/* In the order in which they are to be set. */
extern const struct setting setting_table[];

struct change {
	char *path; /* without the root */
	char *old, *new;
	const char *name; /* of the setting; borrowed */
};

struct edits {
	struct change *v;
	size_t n, cap;
};

/* What is not as it should be; 'name' NULL: of all settings. */
void setting_find(struct edits *, const char *root, const char *name);

/* Are there files of it here at all. */
bool setting_known(const char *root, const char *name);

/* Is it a file of one of the settings: nothing else is ever written. */
const struct setting *setting_of(const char *path);

/* What the file says; NULL. Caller frees. */
char *setting_read(const char *root, const char *path);

/* Writes and reads again: 0; -1 and errno, EINVAL: it did not stay. */
int setting_write(const char *root, const char *path, const char *value);

void edits_add(struct edits *, const char *path, const char *old,
    const char *new, const char *name);
void edits_free(struct edits *);

#endif
