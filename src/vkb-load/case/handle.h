/*
 * The server of a case run: started by vkb-serve, or an external server, which
 * is emptied instead of started.
 */
#ifndef HANDLE_H
#define HANDLE_H

#include <stdbool.h>

struct bench_case;
struct case_context;
struct coproc;
struct json;
struct server_logs;
struct target;

/*
 * Runs vkb-serve --follow as a child: a spec goes in, a server record comes
 * out. When this program ends, in whatever way, the child's input ends, and the
 * child stops all servers.
 */

/*
 * Runs the words of a command, ended by NULL, that starts vkb-serve --follow,
 * perhaps on another machine: without a terminal, so that it cannot ask for a
 * password. If it is NULL, looks for vkb-serve beside our own binary, else in
 * PATH. Returns NULL after reporting an error.
 */
struct coproc *handle_start_serve(const char *const *command);

/*
 * Sends a spec and waits for a record with its id, which the caller frees with
 * json_free; the record may say that the server has already ended. Returns NULL
 * after reporting an error, or silently when *stop becomes non-zero; the
 * coprocess cannot be used after that.
 */
struct json *handle_ask_serve(
    struct coproc *, const struct json *spec, const volatile int *stop);

/* Returns true if a record came unasked: a server has ended. NULL: false. */
bool handle_has_news(const struct coproc *);

/*
 * Closes the child's input and waits until its servers have ended. NULL does
 * nothing.
 */
void handle_close_serve(struct coproc *);

/* Returns the modules of a specification of a build that has one, with these
 * arguments, or NULL. */
struct json *handle_list_modules(
    const struct json *build, const struct json *args);

struct server_handle {
	struct case_context *context;
	const struct json *build;
	struct json *server; /* its record; NULL: not started */
	char id[64];
	bool used;                /* a load ran since its start */
	bool count;               /* its instructions are counted */
	struct server_logs *logs; /* of the last server; or NULL */
};

/*
 * Returns 0 or -1. The error is in *why, here and below, if vkb-serve has
 * reported it (caller frees with free()), else *why is NULL and the error is in
 * err_last().
 */
int handle_start(struct server_handle *, const struct bench_case *, char **why);

/*
 * Fails if the files that were started for a build of --again do not have its
 * hashes: they were replaced. Returns 0, or -1 with the error in err_last().
 */
int handle_check_files(const struct server_handle *);

/*
 * Stops the server. Returns -1 if it had failed before. Its logs are kept until
 * the next start, or handle_free.
 */
int handle_end(struct server_handle *, char **why);

void handle_free(struct server_handle *); /* after handle_end */

/* Brings the server back to its state after its start, with its config set. */
int handle_reset(struct server_handle *, const struct bench_case *, char **why);

/* Returns true if the server has ended by itself. 'doubt': also sends PING. */
bool handle_is_lost(
    const struct server_handle *, const struct bench_case *, bool doubt);

/*
 * Makes a target with the login of the case. The caller calls target_free in
 * any case.
 */
int handle_target(
    const struct server_handle *, const struct bench_case *, struct target *);

/* Returns the timeout of the session, else that of the case, or 0. */
double handle_timeout(const struct case_context *, const struct bench_case *);

#endif
