/*
 * Can two sessions be compared: was the machine the same, set the same, and
 * equally undisturbed? From env records, runs and summaries.
 */
#ifndef ALIKE_H
#define ALIKE_H

struct sky;
struct str;

/* All of a file; NULL, and said. Caller frees with sky_free. */
struct sky *sky_read(const char *file);
void sky_free(struct sky *);

/*
 * A text for people of all that differs. 1: they can be compared; 0: not; -1
 * and said: one says nothing of its machine.
 */
int sky_alike(struct str *, const struct sky *, const struct sky *);

#endif
