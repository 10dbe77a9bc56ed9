#include "port.h"

#include "client.h"
#include "err.h"
#include "str.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST = 10240, LAST = 22767, BUS = 10000 };

bool
port_is_free(const char *host, int port)
{
	struct addrinfo hints = {
	    .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *list;
	char service[16];
	bool any = strcmp(host, "*") == 0;
	int fd, on = 1, e = 0;

	snprintf(service, sizeof service, "%d", port);
	if (getaddrinfo(any ? NULL : host, service, &hints, &list) != 0) {
		errno = EADDRNOTAVAIL;
		return false;
	}
	for (struct addrinfo *a = list; a && !e; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0) {
			e = any ? 0 : errno; /* no IPv6 on this machine */
			continue;
		}
		/* As the server does: ignore connections in TIME_WAIT. */
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		if (any && a->ai_family == AF_INET6)
			setsockopt(
			    fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
		if (bind(fd, a->ai_addr, a->ai_addrlen) < 0 ||
		    listen(fd, 1) < 0)
			e = errno;
		close(fd);
	}
	freeaddrinfo(list);
	errno = e;
	return e == 0;
}

int
port_choose(const char *host, bool bus)
{
	unsigned x;
	int port;

	for (int i = 0; i < 1000; i++) {
		if (getrandom(&x, sizeof x, 0) != sizeof x)
			err_die("cannot get random numbers");
		port = FIRST + (int)(x % (LAST - FIRST + 1));
		if (port_is_free(host, port) &&
		    (!bus || port_is_free(host, port + BUS)))
			return port;
		if (errno != EADDRINUSE)
			return -1;
	}
	return -1;
}

void
port_describe_owner(struct str *s, const char *host, int port)
{
	struct client_address a = {.host = host, .port = port};
	struct client *c = client_open(&a, 300);
	struct reply *r = c ? CLIENT_CALL(c, 300, "INFO", "server") : NULL;
	char *valkey = NULL, *redis = NULL, *pid = NULL;

	if (r && reply_type(r) == REPLY_TEXT) {
		valkey = reply_info(r, "valkey_version");
		redis = reply_info(r, "redis_version");
		pid = reply_info(r, "process_id");
	}
	if (pid && (valkey || redis)) {
		str_add(s, valkey ? "valkey " : "redis ");
		str_visible(s, valkey ? valkey : redis);
		str_add(s, ", process ");
		str_visible(s, pid);
	} else
		str_add(s, "another program");
	free(valkey);
	free(redis);
	free(pid);
	reply_free(r);
	client_close(c);
}
