/*
 * The first page of a site: what changed, and every commit.
 */
#ifndef INDEX_H
#define INDEX_H

#include <stddef.h>

struct json;
struct shelf;
struct str;

#define INDEX_PAGES "commit" /* the folder of the pages */
#define INDEX_COURSE "history.html"
#define INDEX_TEXT "changes.txt" /* what vkb-detect says of it */

/* 'changes' are the change records of the whole history. */
void index_page(struct str *, const struct shelf *, struct json *const *changes,
    size_t nchanges, const char *url);

#endif
