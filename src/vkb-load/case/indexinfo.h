/* What FT.INFO says of a search index, whichever module has it. */
#ifndef INDEXINFO_H
#define INDEXINFO_H

struct target;

/*
 * Until no node is behind with indexing; one that does not say is not. 0, or
 * -1 and said: there is no such index, or it got nowhere for the timeout of
 * the target; or *stop is set, unsaid.
 */
int indexinfo_wait(
    const struct target *, const char *index, const volatile int *stop);

/* num_docs of all nodes; -1: none says. */
double indexinfo_documents(const struct target *, const char *index);

#endif
