/*
 * The pages of a commit: its results, compared with the commit before it, by
 * vkb-report, and what its functions execute, by vkb-flame. Each page has links
 * to the index, to the commits before and after it, and to the other page.
 */
#ifndef COMMITPAGE_H
#define COMMITPAGE_H

#include <stdbool.h>

struct archive_entry;

struct commitpage {
	const struct archive_entry *entry, *previous, *next; /* may be NULL */
	const char *folder;                                  /* of the pages */
	const char *work;   /* a folder for temporary files */
	const char *status; /* HTML: what the history says about it */
	const char *url;    /* of commits, before their ids; or NULL */
};

/* Does the commit have a page with its profile? */
bool commitpage_has_profile(const struct archive_entry *);

/* Returns a hash of what the pages show. */
unsigned long long commitpage_hash(
    const struct commitpage *, unsigned long long start);

/* Write one page. They return -1, after reporting it, if it cannot be made. */
int commitpage_write(const struct commitpage *);
int commitpage_write_profile(const struct commitpage *);

#define COMMITPAGE_PROFILE "-profile.html" /* after the key */

#endif
