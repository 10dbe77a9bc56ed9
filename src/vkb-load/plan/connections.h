/* What identifies a case about the connections of its load. */
#ifndef CONNECTIONS_H
#define CONNECTIONS_H

struct json;
struct plan_want;

/* Applies the options to an identity. */
void connections_override(const struct plan_want *, struct json *config);

/*
 * Removes values that are the default, and keys about TLS from a case without
 * TLS.
 */
void connections_normalize(struct json *config);

#endif
