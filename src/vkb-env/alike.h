/*
 * Tells whether two sessions are comparable: same machine, same settings,
 * equally little noise. Reads env, run and summary records.
 */
#ifndef ALIKE_H
#define ALIKE_H

struct sky;
struct str;

/* Reads a file. Returns NULL after reporting an error; free with sky_free. */
struct sky *sky_read(const char *file);
void sky_free(struct sky *);

/*
 * Appends a text that lists the differences. Returns 1 if the sessions are
 * comparable, 0 if not, or -1 after reporting that one has no machine state.
 */
int sky_alike(struct str *, const struct sky *, const struct sky *);

#endif
