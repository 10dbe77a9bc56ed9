/*
 * The records: one JSON object a line, "type" and "v" first. vkb-record(5) is
 * the contract; the tables here are the same contract for the machine, and a
 * test compares the two.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"

struct jsonl;
struct str;

struct record_key {
	const char *path; /* "run.block"; NULL ends the table */
	enum json_type type;
	bool required;
	const char *help;
};

struct record_type {
	const char *name; /* "run"; NULL ends the list */
	const char *help;
	const struct record_key *keys;
};

extern const struct record_type record_types[];

/* {"type":NAME,"v":1}; caller frees with json_free. */
struct json *record_new(const char *type);

const char *record_type(const struct json *rec); /* borrowed, never NULL */
bool record_is(const struct json *rec, const char *type);

/* A raw record of what another tool printed; caller frees with json_free. */
struct json *record_raw(
    const char *format, const char *source, const char *text, size_t n);

/*
 * 0, or -1 and said: "WHERE: record 'run' lacks 'config'". Unknown types and
 * keys pass; a known type whose "v" is newer than ours does not.
 */
int record_check(const struct json *rec, const char *where);

/*
 * jsonl_next with record_check. An object without "type" that has the shape of
 * the Python tool's metrics.json becomes a run. 1, 0 or -1 as jsonl_next.
 */
int record_next(struct jsonl *, struct json **rec);

/* The same after jsonl_text: 1 or -1. */
int record_tree(struct jsonl *, struct json **rec);

/* Sorted-key text of a room or any value; "" for NULL. Equal rooms, equal text.
 */
void record_room(struct str *, const struct json *room);

/* The same as a value, so that equal input gives equal bytes; caller frees. */
struct json *record_sorted(const struct json *room);

/* Is the commit a hash, of more than 12 lower-case hex digits? Other names of
 * commits, such as 9.0.0-rc1, are never shortened. */
bool record_is_hash(const char *commit);

/* The first digits of a commit that is a hash, any other name whole. Caller
 * frees with free(). */
char *record_commit_brief(const char *commit, size_t digits);

/*
 * A short name of a subject for people: its label, ref, shortened commit,
 * server version, or "unknown". Caller frees with free().
 */
char *record_subject_name(const struct json *subject);

/* The same with the commit (the module's, if there is one) behind it, unless
 * that is its name: "unstable (1f9c0ab2)". Caller frees with free(). */
char *record_subject_title(const struct json *subject);

#endif
