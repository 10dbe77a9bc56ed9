#include "connect.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct addrinfo *
connect_resolve(const char *host, int port, bool numeric, const char **why)
{
	struct addrinfo *list,
	    hints = {.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST : 0)};
	char service[16];
	int e;

	snprintf(service, sizeof service, "%d", port);
	e = getaddrinfo(host, service, &hints, &list);
	if (!e)
		return list;
	*why = gai_strerror(e);
	errno = e == EAI_SYSTEM ? errno : ENXIO;
	return NULL;
}

/* Starts to connect a new socket; closes it on error. */
static int
start_connect(int fd, const struct sockaddr *a, socklen_t n)
{
	int e;

	if (connect(fd, a, n) == 0 || errno == EINPROGRESS || errno == EINTR)
		return fd;
	e = errno;
	close(fd);
	errno = e;
	return -1;
}

int
connect_unix(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof a.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(a.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return fd < 0 ? -1 : start_connect(fd, (struct sockaddr *)&a, sizeof a);
}

int
connect_tcp(const struct addrinfo *a, int send_room)
{
	int on = 1, fd;

	fd =
	    socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (send_room)
		setsockopt(
		    fd, SOL_SOCKET, SO_SNDBUF, &send_room, sizeof send_room);
	return start_connect(fd, a->ai_addr, a->ai_addrlen);
}
