#include "dial.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int
dial_unix(const char *path)
{
	static const struct timeval second = {1, 0}, none = {0, 0};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof a.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(a.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* Blocking for the moment: a full backlog is no error. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none) < 0 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int
dial_tcp(const char *host, int port, int room, const char **why)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list, *a;
	char service[16];
	int fd = -1, on = 1, e = 0;

	snprintf(service, sizeof service, "%d", port);
	e = getaddrinfo(host, service, &hints, &list);
	if (e) {
		*why = gai_strerror(e);
		errno = EHOSTUNREACH;
		return -1;
	}
	for (a = list; a; a = a->ai_next) {
		fd = socket(a->ai_family,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (fd < 0) {
			e = errno;
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		if (room)
			setsockopt(
			    fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
		if (connect(fd, a->ai_addr, a->ai_addrlen) == 0 ||
		    errno == EINPROGRESS)
			break;
		e = errno;
		close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	errno = e;
	return fd;
}
