/*
 * Stores records other than runs in separate tables: env records in
 * vkb_envs, which the session joins to runs, and change records, the last
 * results of vkb-detect for each table of runs, in vkb_changes.
 */
#ifndef OTHERS_H
#define OTHERS_H

#include <stddef.h>

struct json;
struct pg;
struct str;

enum { OTHERS_ENV, OTHERS_CHANGE, OTHERS_TYPES };

struct others {
	struct others_list {
		char **records; /* JSON texts */
		size_t n, cap;
		size_t stored; /* set by others_push: records new or changed */
	} lists[OTHERS_TYPES];
};

/* Sets 'text' to the hash of a record or a section, as 16 digits. */
void others_hash(char text[17], const struct json *);

/* Adds the record if it is of one of the types. */
void others_add(struct others *, const struct json *rec);
void others_free(struct others *);

/* Appends the statements that create the tables which the records need. */
void others_append_tables(const struct others *, struct str *);

/*
 * Creates the tables that are missing and stores the records: env records that
 * are not there, and the changes of 'metrics_table', which replace those with
 * their keys. Needs a transaction that holds the lock. Returns 0, or -1 (error
 * reported).
 */
int others_push(struct others *, struct pg *, const char *metrics_table);

#endif
