/*
 * vkb-serve --follow as a child: a spec in, a server record out. When this
 * program ends, however it ends, its input ends and with it all servers.
 */
#ifndef COPROC_H
#define COPROC_H

#include <stdbool.h>

struct coproc;
struct json;

/* Found beside our own binary, else in PATH. NULL, and said. */
struct coproc *coproc_start(void);

/*
 * Sends a spec, waits for a record about its id (caller frees with json_free):
 * that the server has ended before is such a record as well. NULL: said, unless
 * *stop became non-zero; the coprocess is then of no more use.
 */
struct json *coproc_ask(
    struct coproc *, const struct json *spec, const volatile int *stop);

/* Has it said something unasked: that a server has ended? NULL: no. */
bool coproc_news(const struct coproc *);

/* Ends its input and waits until its servers are gone; NULL does nothing. */
void coproc_close(struct coproc *);

#endif
