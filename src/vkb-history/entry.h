/* How the commits of an archive are shown to people. */
#ifndef ENTRY_H
#define ENTRY_H

struct archive_entry;
struct str;

/* Writes the first digits of its id and its title, or the part that is known.
 * Nothing is escaped. */
void entry_name(struct str *, const struct archive_entry *);

/* The same after the day, in at most some 100 characters. */
void entry_label(struct str *, const struct archive_entry *);

/* Writes a link to the page of a commit, which is at 'folder' and its key: its
 * id, followed by the title outside of the link. */
void entry_link(struct str *, const struct archive_entry *, const char *folder);

#endif
