/*
 * Fast path for ordinary runs: adds them to the spool without a JSON tree. A
 * frame holds the flattened subject, config and environment that runs share.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>

struct frames;
struct json;
struct spool;

/* Borrows the spool and 'test_type', the value of the column test_type. */
struct frames *frames_new(struct spool *, const char *test_type, bool releases);
void frames_free(struct frames *);

/*
 * Adds a line that ends with a NUL. Returns 1, 0 if it is not an ordinary run
 * and was not added, or -1 (error reported).
 */
int frames_add_line(
    struct frames *, const char *line, size_t n, const char *where);

/* Sets 'commit' to the label or ref, by which releases are known. */
void frames_set_release(struct json *flat, const struct json *run);

/* Sets 'text' to the hash of a section or record, as 16 digits. */
void frames_hash_section(char text[17], const struct json *section);

/*
 * Makes a session for a run without one: "object " and the hash, in 16 digits,
 * of what identifies the run.
 */
#define FRAMES_SESSION "object "
void frames_make_session(char text[32], const struct json *run);

/* Returns whether the number is a valid index of a run: an integer from 1. */
bool frames_is_index(double);

#endif
