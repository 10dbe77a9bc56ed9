/* The state of a part of a load, which the parts publish; see peers.h.
 */
#ifndef PEERSTATE_H
#define PEERSTATE_H

struct json;
struct peers_opts;

/* Makes the first state of a part. Caller frees with json_free. */
struct json *peerstate_new(const struct peers_opts *);

/*
 * Returns why the state of a part does not fit together with ours, or NULL.
 * Caller frees with free().
 */
char *peerstate_explain(const struct json *ours, const struct json *its);

#endif
