/*
 * The keys of commands without a {tag} in a cluster: where a text has them
 * decides which node gets its requests. Private to the engine.
 *
 * If all requests have the same key, they go to its node. If keys are drawn, a
 * node is drawn in proportion to its part of them, and then a request whose key
 * is on that node. Keys with numbers in sequence or fields of rows come as they
 * are, so a cluster redirects most of them.
 */
#ifndef ROUTES_H
#define ROUTES_H

struct cmdsource;
struct cursor;
struct engine_target;
struct engine_work;
struct keys;
struct routes;

/*
 * Sets 'fixed' and 'slot' of the source of a work, or returns a source of such
 * requests that takes it; 'routes' is then set. Otherwise returns the source.
 */
struct cmdsource *routes_open(struct cmdsource *, const struct engine_target *,
    const struct engine_work *);

/*
 * Returns the slot of a request at random, made in 'buf', of cmdsource_buffer.
 */
unsigned routes_draw(
    const struct routes *, struct cursor *, const struct keys *, char *buf);

#endif
