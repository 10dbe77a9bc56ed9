/*
 * Short names of cases for people: the test_id if there is one, the command,
 * and the keys that differ between cases with the same test_id and command:
 * "SET P10 256B". Keys that follow from others, such as the number of requests
 * where a duration is given, are left out. Long commands are cut.
 */
#ifndef CASENAME_H
#define CASENAME_H

#include <stdbool.h>
#include <stddef.h>

struct casename;
struct json;

/* 'configs' are all configs that will be shown; borrowed during the call. */
struct casename *casename_new(const struct json *const *configs, size_t n);
void casename_free(struct casename *);

/* Returns "SET P10 16B", for example; the caller frees it. */
char *casename_of(const struct casename *, const struct json *config);

/* Returns the part of a pattern that names cases. A '!' before it excludes
 * them: the pattern means all others. */
const char *casename_pattern(const char *pattern, bool *excludes);

/* Is the pattern the name, or does it match it? For a pattern that excludes,
 * the answer is the opposite. */
bool casename_matches(const char *pattern, const char *name);

/* Are all words of the pattern among those of a name with all keys? So names of
 * a report of fewer cases are found. */
bool casename_has_words(
    const struct casename *, const struct json *config, const char *pattern);

/* Excludes values that differ in 'config' from casename_common. The config of a
 * failed case, which may be incomplete, adds no keys to names. */
void casename_differs(struct casename *, const struct json *config);

/* Returns what all share, in words: "50 clients, 64-byte values, TLS", without
 * booleans that are false, and of long values the name; may be empty. Caller
 * frees. */
char *casename_common(const struct casename *);

#endif
