/* The git repositories of the cache: mirrors, work trees, archives. */
#ifndef STORE_H
#define STORE_H

struct cache;
struct gitrepo;

/*
 * The one of that name, made where it is missing, without what killed programs
 * left in it: half packs, and locks that nobody holds. NULL, and said.
 * Whoever writes refs or packs there holds the cache's lock of the same name.
 */
struct gitrepo *store_open(const struct cache *, const char *name);

#endif
