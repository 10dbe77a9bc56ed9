/*
 * A module that is built for servers: that of one work tree for each server, or
 * that of each commit for one server.
 */
#ifndef MODULEBUILD_H
#define MODULEBUILD_H

#include "target.h"

struct buildstep;

/* What the user asks for; NULL: not given. */
struct modulebuild_wanted {
	const char *dir;         /* the work tree of the module; or: */
	const char *server;      /* a commit of server_repo, or a program */
	const char *server_repo; /* URL or path; default: Valkey's */
	const char *command;     /* builds the module */
	const char *file;        /* that it makes; default: the only *.so */
};

struct modulebuild {
	struct modulebuild_wanted wanted;
	struct build_target
	    fixed; /* the module or server that is the same for all */
	struct origin *origin; /* of a server */
	struct json *program;  /* members of build records; NULL: it is built */
	char *path;            /* of the program */
};

/* Drops empty values. Returns what is wrong, or NULL. */
const char *modulebuild_check(struct modulebuild_wanted *);

/* Is the text of '--server' an installed program? It may be NULL. */
bool modulebuild_is_program(const char *server);

/* Returns 0, or -1 after reporting the error; then, too, call
 * modulebuild_close. Hides a login in server_repo. */
int modulebuild_open(struct modulebuild *, const struct modulebuild_wanted *,
    const struct cache *);
void modulebuild_close(struct modulebuild *);

/* Returns the server to build for a target of the command line; NULL: a program
 * is used as it is. */
const struct build_target *modulebuild_server(
    const struct modulebuild *, const struct build_target *);

/* Adds the module, for that target, to the subject of a build record. */
void modulebuild_describe(const struct modulebuild *,
    const struct build_target *, struct json *subject);

/* Adds the program to a build record, and writes the key of its build. */
void modulebuild_add_program(
    const struct modulebuild *, struct json *build, char key[65]);

/* Makes the step of the module for the server in the build record; free with
 * buildstep_free. */
void modulebuild_make_step(struct buildstep *, const struct modulebuild *,
    const struct build_target *, const struct json *build,
    const char *server_key);

#endif
