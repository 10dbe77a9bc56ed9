/*
 * Writes a history as a static site: an index with the changes and a chart of
 * each case, and the pages of each commit. All links within it are relative.
 */
#ifndef SITE_H
#define SITE_H

#include <stdbool.h>

/*
 * Writes the site of the archive 'dir' into the folder 'out'. Makes only pages
 * whose records changed, and removes only pages of commits that were pruned.
 * 'url' and the id of a commit make a link to its source; NULL: no links.
 * Returns -1, after reporting it, if something could not be read or written.
 */
int site_write(const char *dir, const char *out, const char *url, bool quiet);

#endif
