/*
 * What in a server accounts for a change of its instructions per request: the
 * causes of causes.h, from profile records of the mode count.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

struct callgraph;
struct functions;
struct json;

struct functions *functions_new(void);
void functions_free(struct functions *);

/* Adds a profile record, read at 'where'. One of another mode, or the second of
 * a case and subject, is ignored. Returns 0, or -1 after reporting an error. */
int functions_add(
    struct functions *, const struct json *profile, const char *where);

/* Returns the profile of a case, or NULL; borrowed. */
const struct callgraph *functions_find(const struct functions *,
    const struct json *config, const struct json *subject);

/*
 * Returns "+155 in setCommand, +30 as setCommand calls lookupKey 2 times, not
 * 1, -0.5 in others": up to three causes, in instructions per request, and the
 * sum of the others unless it is small. Returns NULL if a side has no profile
 * of the case, if nothing changed, or if no function that causes it has a name.
 * Caller frees.
 */
char *functions_explain(
    const struct callgraph *base, const struct callgraph *contender);

/* Returns "setsockopt 0 -> 1": up to three system calls of each request that
 * changed most; NULL if a side has no profile of the case, or none changed.
 * Caller frees. */
char *functions_list_syscalls(
    const struct callgraph *base, const struct callgraph *contender);

#endif
