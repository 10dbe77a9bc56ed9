/*
 * The functions of a server that account for a change of its instructions per
 * request: the self cost of each function, from profile records of the mode
 * count.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

struct functions;
struct json;
struct kase;

struct functions *functions_new(void);
void functions_free(struct functions *);

/* Adds a profile record. One of another mode, or the second of a case and
 * subject, is ignored. */
void functions_add(struct functions *, const struct json *profile);

/*
 * Returns "setCommand +155, lookupKey +3, others -0.5": up to three functions
 * that changed most, in instructions per request, and the sum of the others
 * unless it is small. Returns NULL if a side has no profile of the case, if
 * nothing changed, or if no function that changed has a name. Caller frees.
 */
char *functions_explain(struct functions *base, const struct kase *in_base,
    struct functions *contender, const struct kase *in_contender);

#endif
