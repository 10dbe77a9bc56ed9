/* valkey-server, valkey-cli and valkey-benchmark, from a tree of Valkey. */
#ifndef SERVER_H
#define SERVER_H

struct flags;
struct goal;
struct recipe;

#define SERVER_INCLUDE "include" /* of a finished build: valkeymodule.h */

/* Makes them; server_free() in the end. 0, or -1 and said. */
int server_recipe(struct recipe *, const struct goal *, const struct flags *);
void server_free(struct recipe *);

#endif
