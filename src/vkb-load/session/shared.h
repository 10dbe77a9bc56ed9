/* Which cases several vkb-load can make together, each its part of the load. */
#ifndef SHARED_H
#define SHARED_H

struct json;

/* Returns why a case cannot be shared by so many parts, or NULL. Caller frees.
 */
char *shared_explain(const struct json *cas, unsigned parts);

#endif
