/*
 * Settings of a server that vkb-serve itself sets, or a key of its spec does:
 * whoever configures a server cannot set them as well.
 */
#ifndef OWNSETTINGS_H
#define OWNSETTINGS_H

#include <stdbool.h>

struct json;

struct own_setting {
	const char *name;
	const char *key; /* of a spec that sets it; NULL: vkb-serve does */
	const char *config_key; /* the same of vkb-load's configuration */
	bool needs_key;         /* it is set only if the key is there */
};

/* Returns the row of a setting, whose name has any case, or NULL. */
const struct own_setting *ownsettings_find(const char *name);

/* Can this be the name of a setting? */
bool ownsettings_is_name(const char *name);

/*
 * Removes what vkb-serve sets from the 'custom-server-configs' of an array of
 * configurations: the Python tool's users may have it there, where that tool
 * documents it as without effect. Reports each setting that is ignored once,
 * under the file's name.
 */
void ownsettings_ignore(struct json *configs, const char *file);

#endif
