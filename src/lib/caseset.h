/*
 * Subjects, configurations and environments as numbers: equal JSON objects have
 * the same number, whatever the order of their keys and the way they are
 * written. The text of an object is parsed when it comes for the first time
 * only.
 */
#ifndef CASESET_H
#define CASESET_H

#include <stddef.h>
#include <stdint.h>

struct caseset;
struct json;

struct caseset *caseset_new(void);
void caseset_free(struct caseset *);

/* The number of the object: 0 for the first, 1 for the next different one, and
 * so on. The text must be valid JSON (jsonscan_value has read it). */
size_t caseset_add(struct caseset *, const char *text, size_t n);
size_t caseset_count(const struct caseset *);

/* jsonhash_member of the object under the key: what it adds to json_hash of a
 * record. */
uint64_t caseset_member_hash(
    const struct caseset *, size_t id, const char *key);

/* The object as text with sorted keys. Borrowed. */
const char *caseset_text(const struct caseset *, size_t id);

/* The object; the caller frees it with json_free. */
struct json *caseset_value(const struct caseset *, size_t id);

#endif
