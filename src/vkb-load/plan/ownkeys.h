/*
 * With --no-flush the server keeps its data, so each key of vkb-load begins
 * with a prefix of the session. In the commands of scenarios "__prefix__" marks
 * its position.
 */
#ifndef OWNKEYS_H
#define OWNKEYS_H

struct json;

/* Removes "__prefix__" from all commands of a case's identity. */
void ownkeys_strip(struct json *config);

/* Returns why a case cannot be run with --no-flush, or NULL. Caller frees. */
char *ownkeys_explain(const struct json *cas);

#endif
