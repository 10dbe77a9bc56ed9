/* Prints rows and configurations as a table ('text') or as records. */
#ifndef LISTING_H
#define LISTING_H

#include <stdbool.h>

struct configs;
struct rowlist;
struct str;

/* 'now' (seconds since 1970) decides which leases have ended. */
void listing_print_rows(
    struct str *, const struct rowlist *, double now, bool text);
void listing_print_configs(struct str *, const struct configs *, bool text);

#endif
