/*
 * Records: one JSON object per line, "type" and "v" first. vkb-record(5)
 * specifies them. The tables here hold the same specification; a test compares
 * the two.
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
};

struct record_type {
	const char *name; /* "run"; NULL ends the list */
	const struct record_key *keys;
};

extern const struct record_type record_types[];

/* {"type":NAME,"v":1}; caller frees with json_free. */
struct json *record_new(const char *type);

const char *record_type(const struct json *rec); /* borrowed, never NULL */
bool record_is(const struct json *rec, const char *type);

/* Makes a name that differs for each session. 0, or -1, error reported. */
int record_name_session(char name[16]);

/* Returns a raw record of a tool's output. Caller frees with json_free. */
struct json *record_raw(
    const char *format, const char *source, const char *text, size_t n);

/*
 * Returns 0, or -1 after reporting "WHERE: record 'run' lacks 'config'".
 * Accepts unknown types and keys, but a known type only if its "v" is 1.
 */
int record_check(const struct json *rec, const char *where);

/*
 * jsonl_next with record_check. An object without "type" in the format of the
 * Python tool's metrics.json becomes a run. Returns 1, 0 or -1 as jsonl_next.
 */
int record_next(struct jsonl *, struct json **rec);

/* Parses and checks the line that jsonl_text read. Returns 1 or -1. */
int record_tree(struct jsonl *, struct json **rec);

/* Returns a copy with sorted keys. Caller frees with json_free. */
struct json *record_sorted(const struct json *section);

/* Is this the id of a commit, maybe abbreviated: 7 to 64 lower-case hex digits?
 * It may stand in a name of a file and in a URL. The commit may be NULL. */
bool record_is_id(const char *commit);

/* Is the commit a hash: more than 12 lower-case hex digits? Other names, such
 * as 9.0.0-rc1, are never shortened. */
bool record_is_hash(const char *commit);

/* Returns the first digits of a hash, or the whole of any other name. Caller
 * frees with free(). */
char *record_commit_brief(const char *commit, size_t digits);

/*
 * The commit that names a subject and its time: those of the module, unless
 * that is the same in all builds (module_fixed), or of the server. NULL: not
 * known.
 */
const char *record_subject_commit(const struct json *subject);
const char *record_subject_time(const struct json *subject);

/* Has the server or the module uncommitted changes? */
bool record_subject_is_dirty(const struct json *subject);

/* Is the key among those of the environment that differ between the runs of a
 * summary? */
bool record_env_varied(const struct json *summary, const char *key);

/* Adds the error of a run in one line: of several the first, and the last,
 * which says why. */
void record_add_error(struct str *, const char *error);

#define RECORD_NAMELESS "unknown"

/*
 * Returns a short name of a subject: its label, ref, shortened commit, server
 * version, or RECORD_NAMELESS. Caller frees with free().
 */
char *record_subject_name(const struct json *subject);

/* Returns the name followed by the commit, unless the name is the commit:
 * "unstable (1f9c0ab2)". Caller frees with free(). */
char *record_subject_title(const struct json *subject);

#endif
