/* The rows and configurations of a store, for people or as records. */
#ifndef LISTING_H
#define LISTING_H

#include <stdbool.h>

struct configs;
struct rowlist;
struct str;

/* 'now' tells which leases have ended. */
void listing_rows(struct str *, const struct rowlist *, double now, bool text);
void listing_configs(struct str *, const struct configs *, bool text);

#endif
