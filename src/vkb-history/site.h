/*
 * A history as a static site: an index, the course of all cases, and a page for
 * each commit. All links within it are relative.
 */
#ifndef SITE_H
#define SITE_H

#include <stdbool.h>

/*
 * Of the shelf 'dir' into the folder 'out'. Only pages whose records changed
 * are made again; those of commits that are gone are removed, and nothing else
 * that is there. 'url' and the id of a commit is where others show it, or NULL.
 * 0; -1, and said: something could not be read or shown.
 */
int site_write(const char *dir, const char *out, const char *url, bool quiet);

#endif
