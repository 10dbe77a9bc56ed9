/*
 * Short names of cases for people: the test_id if there is one, the command,
 * and the keys that differ between cases with the same test_id and command.
 * Long commands are cut.
 */
#ifndef CASENAME_H
#define CASENAME_H

#include <stddef.h>

struct casename;
struct json;

/* 'configs' are all configs that will be shown; borrowed during the call. */
struct casename *casename_new(const struct json *const *configs, size_t n);
void casename_free(struct casename *);

/* Returns "SET data_size=16 pipeline=10", for example; the caller frees it. */
char *casename_of(const struct casename *, const struct json *config);

/* Excludes values that differ in 'config' from casename_common. The config of a
 * failed case, which may be incomplete, adds no keys to names. */
void casename_differs(struct casename *, const struct json *config);

/* Returns what all share: "clients=50, tls_mode=false"; caller frees. */
char *casename_common(const struct casename *);

#endif
