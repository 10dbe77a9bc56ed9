/*
 * Numbers for subjects, configurations and environments: equal JSON objects
 * have the same number, whatever the order of their keys and the way they are
 * written. Each text is parsed once.
 */
#ifndef CASESET_H
#define CASESET_H

#include <stddef.h>
#include <stdint.h>

struct caseset;
struct json;

struct caseset *caseset_new(void);
void caseset_free(struct caseset *);

/* Return the number of the object: 0 for the first, 1 for the next different
 * one, and so on. The text must be valid JSON (checked by jsonscan_value). */
size_t caseset_add(struct caseset *, const char *text, size_t n);
size_t caseset_add_value(struct caseset *, const struct json *);

/* Returns the number of the object, or caseset_count if it has none. */
size_t caseset_find(const struct caseset *, const struct json *);
size_t caseset_count(const struct caseset *);

/*
 * The record of failed runs may lack keys of its subject. Returns the index of
 * the only one of n objects, some NULL, with all keys of 'few' and more; n:
 * none, or several.
 */
size_t caseset_find_fuller(
    const struct json *const *known, size_t n, const struct json *few);

/* Returns jsonhash_member of the object under 'key', its part of a record's
 * json_hash. */
uint64_t caseset_member_hash(
    const struct caseset *, size_t id, const char *key);

/* Returns the object as text with sorted keys. Borrowed. */
const char *caseset_text(const struct caseset *, size_t id);

/* Returns the object, which is parsed when it is asked for. Borrowed until
 * caseset_forget_trees, which saves memory. */
const struct json *caseset_tree(struct caseset *, size_t id);
void caseset_forget_trees(struct caseset *);

#endif
