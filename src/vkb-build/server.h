/* valkey-server, valkey-cli and valkey-benchmark, from a tree of Valkey. */
#ifndef SERVER_H
#define SERVER_H

struct flags;
struct build_target;
struct recipe;

#define SERVER_INCLUDE "include" /* folder of valkeymodule.h */

/* Makes the recipe; free with server_free. Returns 0; -1: error reported. */
int server_recipe(
    struct recipe *, const struct build_target *, const struct flags *);
void server_free(struct recipe *);

#endif
