/*
 * Settings of a server that vkb-load did not start: read, compared with those
 * of a case, changed for a case and restored.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>

struct client;
struct json;
struct target;

/* A setting before we changed it. */
struct settings_old {
	size_t node;
	char *name, *value;
};

/* What was changed, oldest first. Initialise it with {0}. */
struct settings {
	struct settings_old *v;
	size_t n, cap;
};

/* Frees the memory and restores nothing. */
void settings_free(struct settings *);

/*
 * Returns the value of a setting by CONFIG GET, freed by the caller, or NULL if
 * it cannot be read.
 */
char *settings_read(const struct target *, struct client *, const char *name);

/*
 * Checks that the server has these settings, a JSON object or NULL. Those that
 * are secrets are not compared. Returns 0, or -1 after reporting the first that
 * differs.
 */
int settings_check(
    const struct target *, struct client *, const struct json *wanted);

/*
 * Changes these settings of a node, a JSON object or NULL, and keeps the old
 * values. Returns 0, or -1 after reporting an error; what was changed before
 * it is kept.
 */
int settings_change(struct settings *, const struct target *, size_t node,
    struct client *, const struct json *wanted);

/*
 * Restores what was changed, the latest first. Returns 0, or -1 after reporting
 * each setting that could not be restored. Then forgets the changes.
 */
int settings_restore(struct settings *, const struct target *);

#endif
