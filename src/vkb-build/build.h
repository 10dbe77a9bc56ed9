/* One build: from a tree to a folder of finished programs. */
#ifndef BUILD_H
#define BUILD_H

#include <stdbool.h>

struct cache;
struct flags;
struct guard;
struct json;
struct goal;

/* What all builds of this program share. */
struct workshop {
	const struct cache *cache;
	const struct flags *flags;
	char kind[65]; /* key of the flags */
	struct guard *guard;
	int jobs;
	int tokens[2]; /* GNU make's job server: a pipe with the free jobs */
	bool quiet;
};

struct build;

/*
 * A finished build of the goal, into 'rec' (server, cli, ...). 1; 0 there is
 * none.
 */
int build_find(const struct workshop *, const struct goal *, struct json *rec);

/*
 * Begins; NULL with *busy: somebody else builds the same at this time; NULL: it
 * failed, said and in *error (caller frees).
 */
struct build *build_start(
    struct workshop *, const struct goal *, bool *busy, char **error);
int build_fd(const struct build *); /* readable: call build_step */

/* Once that is readable. 0: it goes on; 1: it is finished; -1: it failed, said,
 * see build_error. */
int build_step(struct build *);
const char *build_error(const struct build *);
const char *build_log(const struct build *); /* of one that failed */
void build_free(struct build *);             /* stops it first */

#endif
