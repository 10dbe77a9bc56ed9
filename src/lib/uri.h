/*
 * The address of a server as a URI:
 *
 *	valkey://[USER@]HOST[:PORT][/DB]     also redis://
 *	valkeys://...                        with TLS; also rediss://
 *	unix://[USER@]/PATH[?db=DB]          a unix socket
 *
 * USER, HOST and PATH may have %XX. There is no place for a password.
 */
#ifndef URI_H
#define URI_H

#include <stdbool.h>

struct uri {
	char *user, *host, *unixsocket; /* NULL: not given; owned */
	int port;                       /* 0: not given */
	int db;                         /* -1: not given */
	bool tls;
};

/*
 * Returns NULL, or why the text is not such a URI; static, without any part of
 * the text, which may hold a password. Call uri_free in either case.
 */
const char *uri_parse(const char *, struct uri *);
void uri_free(struct uri *);

#endif
