/*
 * Runs as most of them are, into the spool without a tree: what they have in
 * common by subject, config and environment is flattened once.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>

struct frames;
struct json;
struct spool;

/* Both are borrowed; the second is what the column test_type gets. */
struct frames *frames_new(struct spool *, const char *test_type, bool releases);
void frames_free(struct frames *);

/*
 * A line of a file, a NUL behind it. 1: it is in the spool; 0: it is nothing
 * of that kind and not there; -1, and said.
 */
int frames_line(struct frames *, const char *line, size_t n, const char *where);

/* Among releases a run goes by its label or ref rather than its commit. */
void frames_release(struct json *flat, const struct json *run);

/* The case and the subject of a run, as 16 digits. */
void frames_hash(char text[17], const struct json *room);

/*
 * The session of a run that names none, by what tells it from any other:
 * "object " and 16 digits.
 */
#define FRAMES_OBJECT "object "
void frames_object(char text[32], const struct json *run);

/* An index of a run that tells it from the others. */
bool frames_index(double);

#endif
