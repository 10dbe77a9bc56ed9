/*
 * The axes every configuration has, in either format: cluster and TLS mode,
 * profiling set, config set, io-threads; and the server that they ask for.
 */
#ifndef AXES_H
#define AXES_H

struct json;
struct plan;
struct plan_axes;

/*
 * Calls 'fn' for each combination that is wanted: of the axes, and without test
 * groups of all lists of a configuration.
 */
void axes_each(struct plan *, const struct json *cfg,
    void (*fn)(struct plan *, const struct plan_axes *));

/* Completes the identity of a case, so that every value is explicit. */
void axes_complete_config(const struct plan_axes *, struct json *config);

/* Replaces secrets among the settings of an identity with "***". */
void axes_hide_secrets(struct json *config);

/* New objects, owned by the caller. *why: what is wrong with it, or NULL;
 * caller frees. */
struct json *axes_make_server(const struct plan_axes *, char **why);
struct json *axes_make_client(const struct plan_axes *);

#endif
