/*
 * Runs vkb-serve --follow as a child: a spec goes in, a server record comes
 * out. When this program ends, in whatever way, the child's input ends, and the
 * child stops all servers.
 */
#ifndef COPROC_H
#define COPROC_H

#include <stdbool.h>

struct coproc;
struct json;

/*
 * Runs the words of a command, ended by NULL, that starts vkb-serve --follow,
 * perhaps on another machine: without a terminal, so that it cannot ask for a
 * password. If it is NULL, looks for vkb-serve beside our own binary, else in
 * PATH. Returns NULL after reporting an error.
 */
struct coproc *coproc_start(const char *const *command);

/*
 * Sends a spec and waits for a record with its id, which the caller frees with
 * json_free; the record may say that the server has already ended. Returns NULL
 * after reporting an error, or silently when *stop becomes non-zero; the
 * coprocess cannot be used after that.
 */
struct json *coproc_ask(
    struct coproc *, const struct json *spec, const volatile int *stop);

/* Returns true if a record came unasked: a server has ended. NULL: false. */
bool coproc_has_news(const struct coproc *);

/*
 * Closes the child's input and waits until its servers have ended. NULL does
 * nothing.
 */
void coproc_close(struct coproc *);

#endif
