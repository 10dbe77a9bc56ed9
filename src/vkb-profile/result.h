/* What a profile leaves behind: its folder, and the counts in its record. */
#ifndef RESULT_H
#define RESULT_H

struct json;
struct requests;
struct watch;

/*
 * Makes the folder. Returns 0; -1, and an error is reported, where it cannot be
 * made or holds another profile.
 */
int result_claim_folder(const char *dir);

/*
 * The path below 'dir' of the copies of the binaries, as perf keeps them:
 * whole. Caller frees.
 */
char *result_name_copies(const char *dir);

/*
 * Adds what the counters and the calls of a watch that has ended came to, also
 * by request where 'requests' is not NULL. Returns 0, or -1 and an error is
 * reported.
 */
int result_add_counts(
    struct json *rec, const struct watch *, struct requests *);

#endif
