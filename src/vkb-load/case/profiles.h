/*
 * Profiles of servers under the load of a case, by vkb-profile, in visits of
 * their own: what is profiled is not measured.
 */
#ifndef PROFILES_H
#define PROFILES_H

#include <stdbool.h>
#include <stddef.h>

struct engine_progress;
struct engine_work;
struct json;
struct profiles;

struct profiles_opts {
	const char *dir; /* where they go; NULL: there are none */
	bool extra;      /* of each case, beside its measured runs */
	bool nodes;      /* of each node of a cluster, not the first alone */
	double time_s;   /* so long, and nothing is measured; 0: as asked */
};

/* Why a case cannot be run with these, or NULL. Static text. */
const char *profiles_cannot(
    const struct profiles_opts *, const struct json *cas);

/* Is the case profiled; is it measured as well? */
bool profiles_wanted(const struct profiles_opts *, const struct json *cas);
bool profiles_alone(const struct profiles_opts *, const struct json *cas);

/* Was it, by an earlier session? */
bool profiles_there(const struct profiles_opts *, const struct json *cas,
    const struct json *build);

/*
 * Makes the load last as long as perf needs: at least 2 s behind the delay of
 * the profile, and as long as the profile where the case has a number of
 * requests or --profile-time is given. The load of a scenario that fills the
 * server for others stays as it is.
 */
void profiles_stretch(const struct profiles_opts *, const struct json *cas,
    struct engine_work *, size_t n);

/* 'server': its record. All borrowed. NULL, and said: its process is unknown.
 */
struct profiles *profiles_new(const struct profiles_opts *,
    const struct json *cas, const struct json *build, const struct json *server,
    const char *session);
void profiles_free(struct profiles *); /* ends them; NULL does nothing */

/* Starts them when the load has warmed up. */
void profiles_see(struct profiles *, const struct engine_progress *);

/*
 * When the load has ended: lets them write what they have. Their records, of
 * that subject, are added to the array. 0, or -1 and said.
 */
int profiles_end(
    struct profiles *, const struct json *subject, struct json *recs);

#endif
