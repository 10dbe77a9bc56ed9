/*
 * Tells whether two sessions are comparable: same machine, same settings,
 * equally little noise. Reads env, run and summary records.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

struct environment;
struct str;

/* Reads a file. Returns NULL after reporting an error; free with
 * environment_free. */
struct environment *environment_read(const char *file);
void environment_free(struct environment *);

/*
 * Appends a text that lists the differences. Returns 1 if the sessions are
 * comparable, 0 if not, or -1 after reporting that one has no machine state.
 */
int environment_compare(
    struct str *, const struct environment *, const struct environment *);

#endif
