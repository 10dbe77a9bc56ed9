/* Reads FT.INFO of a search index, of any search module. */
#ifndef INDEXINFO_H
#define INDEXINFO_H

struct target;

/*
 * Waits until all nodes have finished indexing; a node without FT.INFO counts
 * as finished. Returns 0, or -1 after reporting that there is no such index, or
 * that it made no progress for the timeout of the target; or -1 silently when
 * *stop is set.
 */
int indexinfo_wait(
    const struct target *, const char *index, const volatile int *stop);

/* Returns the sum of num_docs over all nodes, or -1 if no node has it. */
double indexinfo_documents(const struct target *, const char *index);

#endif
