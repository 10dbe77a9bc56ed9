/*
 * The memory of a counted server: what a key takes, and what a client does.
 * Each is a slope, so that what the server takes anyhow is in neither.
 */
#ifndef FOOTPRINT_H
#define FOOTPRINT_H

struct json;
struct target;

/*
 * Adds bytes_per_key, if there are 1,000 keys, and bytes_per_client to the
 * metrics. Deletes all keys. A figure that the server refuses is reported and
 * absent. Returns 0, or -1 after reporting that the server does not answer.
 */
int footprint_measure(const struct target *, struct json *metrics);

#endif
