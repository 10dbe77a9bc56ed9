/*
 * Keys of our own on a server that holds data of others (--no-flush): each
 * begins with a prefix of the session. In the commands of scenarios
 * "__prefix__" stands where it goes.
 */
#ifndef OWNKEYS_H
#define OWNKEYS_H

struct json;

/* Removes it from all commands of a case's identity. */
void ownkeys_strip(struct json *config);

/* Why a case cannot be run beside data of others, or NULL. Caller frees. */
char *ownkeys_cannot(const struct json *cas);

#endif
