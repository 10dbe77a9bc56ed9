/* One build: from a tree to a folder of finished programs. */
#ifndef BUILD_H
#define BUILD_H

#include <stdbool.h>

struct cache;
struct guard;
struct goal;
struct json;

/* What all builds of this program share. */
struct workshop {
	const struct cache *cache;
	struct guard *guard;
	int jobs;
	int tokens[2]; /* GNU make's job server: a pipe with the free jobs */
};

/* What is made of which sources, and how. */
struct recipe {
	const struct goal *goal; /* the sources */
	char key[65];            /* of the finished build */
	char kind[65];           /* of trees whose objects it can go on with */
	bool fresh;              /* from nothing, whatever there is */
	const char **argv;       /* run in the tree; NULL ends it */
	char **env; /* NAME=VALUE for it, NULL ends them; or NULL */
	/*
	 * Puts what was made in 'tree' into 'dir', and what is known of it into
	 * the note. 0, or -1 and said.
	 */
	int (*collect)(const struct recipe *, const char *tree, const char *dir,
	    struct json *note);
	const void *arg; /* for that */
};

struct build;

/* A finished build, into 'rec' (server, cli, ...). 1; 0 there is none. */
int build_find(
    const struct workshop *, const struct recipe *, struct json *rec);

/*
 * Begins; NULL with *busy: somebody else builds the same at this time; NULL: it
 * failed, said and in *error (caller frees).
 */
struct build *build_start(
    struct workshop *, const struct recipe *, bool *busy, char **error);
int build_fd(const struct build *); /* readable: call build_step */

/* Once that is readable. 0: it goes on; 1: it is finished; -1: it failed, said,
 * see build_error. */
int build_step(struct build *);
const char *build_error(const struct build *);
const char *build_log(const struct build *); /* of one that failed */
void build_free(struct build *);             /* stops it first */

#endif
