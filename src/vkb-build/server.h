/* valkey-server, valkey-cli and valkey-benchmark, from a tree of Valkey. */
#ifndef SERVER_H
#define SERVER_H

struct flags;
struct build_target;
struct recipe;

#define SERVER_INCLUDE "include" /* folder of valkeymodule.h */

/* Makes the recipe; free with build_free_recipe. */
void server_make_recipe(
    struct recipe *, const struct build_target *, const struct flags *);

#endif
