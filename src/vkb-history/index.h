/*
 * The first page of a site: the open regressions, the other changes, a chart of
 * each case, and all commits with what became of them.
 */
#ifndef INDEX_H
#define INDEX_H

#include <stdbool.h>

struct archive;
struct archive_entry;
struct changegroups;
struct str;
struct trends;

#define INDEX_PAGES "commit"     /* the folder of the pages of commits */
#define INDEX_TEXT "changes.txt" /* the text report of vkb-detect */

struct index {
	const struct archive *archive;
	const struct trends *trends;
	const struct changegroups *changes;
	bool unknown; /* the changes could not be found */
};

void index_write(struct str *, const struct index *);

/* Writes what the changes say about a commit, with links to them on the index,
 * whose URL is 'index'; adds nothing if none is there. */
void index_write_status(struct str *, const struct index *,
    const struct archive_entry *, const char *index);

#endif
