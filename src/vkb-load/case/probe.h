/*
 * Does an index find anything? A module may take FT.CREATE and index nothing,
 * and a search that finds nothing is fast.
 */
#ifndef PROBE_H
#define PROBE_H

struct roles;
struct target;

/*
 * Waits until the indexes that the roles search have taken in what there is
 * (FT.INFO, where it says so), then asks each for a document. A mixed case, and
 * commands in turn that do more than search, may begin with none, so they are
 * asked afterwards. 0, or -1 and said, with the index by name; or unsaid where
 * *stop ended it.
 */
int probe_before(
    const struct target *, const struct roles *, const volatile int *stop);
int probe_after(
    const struct target *, const struct roles *, const volatile int *stop);

#endif
