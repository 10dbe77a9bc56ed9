/*
 * The first page of a site: the changes, and all commits.
 */
#ifndef INDEX_H
#define INDEX_H

#include <stddef.h>

struct json;
struct archive;
struct str;

#define INDEX_PAGES "commit" /* the folder of the pages */
#define INDEX_TRENDS "history.html"
#define INDEX_TEXT "changes.txt" /* the text report of vkb-detect */

/* Writes the page. 'changes' are the change records of the whole history; the
 * page of a commit is at 'url' and its id, unless 'url' is NULL. */
void index_page(struct str *, const struct archive *,
    struct json *const *changes, size_t nchanges, const char *url);

#endif
