/* The folder of a profile, and the counts in its record. */
#ifndef RESULT_H
#define RESULT_H

struct json;
struct watch;

/* Makes the folder. Returns 0, or -1 after reporting that it cannot be made or
 * holds another profile. */
int result_claim_folder(const char *dir);

/* Returns the absolute path in 'dir' for perf's copies of the binaries. Caller
 * frees. */
char *result_name_copies(const char *dir);

/*
 * Adds the counters and calls of a finished watch to the record, and their
 * values per request if these are known. Returns 0, or -1 after reporting an
 * error.
 */
int result_add_counts(struct json *rec, const struct watch *);

#endif
