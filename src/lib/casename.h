/*
 * Names of cases for people: of all the keys of a config, the command (after
 * the test_id, where there is one) and what tells apart cases that have these
 * in common. Long commands are cut.
 */
#ifndef CASENAME_H
#define CASENAME_H

#include <stddef.h>

struct casename;
struct json;

/* Every config that will be shown; they are borrowed only during the call. */
struct casename *casename_new(const struct json *const *configs, size_t n);
void casename_free(struct casename *);

/* "SET data_size=16 pipeline=10"; caller frees with free(). */
char *casename_of(const struct casename *, const struct json *config);

/* One more case, which may not say all of its configuration, as one that
 * failed: it names no key, but what it says otherwise is not common to all. */
void casename_differs(struct casename *, const struct json *config);

/* What all have in common: "clients=50, tls_mode=false"; caller frees. */
char *casename_common(const struct casename *);

#endif
