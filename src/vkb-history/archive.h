/*
 * A folder of JSON lines: a file for each measured commit, and commits.jsonl
 * with commit records. Each file can be read alone, and folders can be merged.
 */
#ifndef ARCHIVE_H
#define ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "clock.h"

struct json;
struct str;

#define ARCHIVE_COMMITS "commits.jsonl"

/* Returns the file name of a subject: its commit, with hashes of uncommitted
 * changes, or a hash of the subject. Caller frees with free(). */
char *archive_file(const struct json *subject);

/* Locks the folder against other writers until the descriptor, which it
 * returns, is closed. Makes a missing folder with 'make'. Returns -1 on error,
 * after reporting it. */
int archive_lock(const char *dir, bool make);

struct archive_entry {
	char *key;            /* the file's name without .jsonl */
	char *path;           /* of the file */
	struct json *subject; /* of its first record; never NULL */
	char *title;          /* of the commit; NULL: not known */
	double time; /* of the commit, or of the first run; epoch s or NAN */
	char day[CLOCK_ISO]; /* of that time, "2026-03-01"; "?" if not known */
	double measured;     /* start of the last run; epoch s or NAN */
	size_t runs, failed, cases;
	size_t profiles, sampled; /* records of both kinds of profiles */
	unsigned long long hash;  /* of the file's lines */
};

struct archive {
	struct archive_entry *v; /* the oldest first */
	size_t n, cap;
	size_t cases;  /* different ones of all files */
	char *commits; /* path of the commit records, or NULL */
};

/* Is this a profile of exact counts, with the functions that call others? */
bool archive_is_profile(const struct json *rec);

/* Is this a profile of samples, with stacks? */
bool archive_is_sampled(const struct json *rec);

/*
 * Reads the folder. Returns -1, after reporting it, if some files could not be
 * read; the others are there. Free with archive_free in any case.
 */
int archive_read(struct archive *, const char *dir);
void archive_free(struct archive *);

/* Returns the *n paths of all files, that of the commit records first; each is
 * borrowed, the caller frees the array. */
const char **archive_list(const struct archive *, size_t *n);

/* Writes the first digits of the id of a commit and its title, or the part that
 * is known. Nothing is escaped. */
void archive_entry_name(struct str *, const struct archive_entry *);

/* The same after the day, in at most some 100 characters. */
void archive_entry_label(struct str *, const struct archive_entry *);

/* Writes a link to the page of a commit, which is at 'folder' and its key: its
 * id, followed by the title outside of the link. */
void archive_entry_link(
    struct str *, const struct archive_entry *, const char *folder);

#endif
