/* A connect never stops the thread: names are looked up before, and a full
 * backlog is an error. */
#include "connect.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tap.h"

static void
test_full_backlog(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/vkb-dial.XXXXXX";
	struct rusage before, after;
	int server = socket(AF_UNIX, SOCK_STREAM, 0), fds[64], n = 0, e;

	if (!mkdtemp(dir)) {
		tap_ok(0, "a folder for the socket is made");
		return;
	}
	snprintf(a.sun_path, sizeof a.sun_path, "%s/socket", dir);
	tap_ok(bind(server, (struct sockaddr *)&a, sizeof a) == 0 &&
		listen(server, 1) == 0,
	    "a server listens that takes no connection");
	getrusage(RUSAGE_THREAD, &before);
	while (n < 64 && (fds[n] = connect_unix(a.sun_path)) >= 0)
		n++;
	e = errno;
	getrusage(RUSAGE_THREAD, &after);
	tap_ok(n > 0 && n < 64 && e == EAGAIN,
	    "with a full backlog the next connection is refused with EAGAIN");
	tap_ok(after.ru_nvcsw == before.ru_nvcsw,
	    "no connection made the thread wait");
	while (n > 0)
		close(fds[--n]);
	close(server);
	unlink(a.sun_path);
	rmdir(dir);
}

static void
test_names(void)
{
	const char *why = NULL;
	struct addrinfo *list = connect_resolve("localhost", 6379, true, &why);

	tap_ok(!list && why, "a numeric look-up refuses a name");
	list = connect_resolve("127.0.0.1", 6379, true, &why);
	tap_ok(list && list->ai_family == AF_INET,
	    "a numeric look-up takes an address");
	if (list)
		freeaddrinfo(list);
	list = connect_resolve("localhost", 6379, false, &why);
	tap_ok(list != NULL, "a name is looked up before the load");
	if (list)
		freeaddrinfo(list);
}

static void
test_long_path(void)
{
	char path[200];

	memset(path, 'a', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	tap_ok(connect_unix(path) < 0 && errno == ENAMETOOLONG,
	    "a path that is too long is an error");
}

int
main(void)
{
	test_full_backlog();
	test_names();
	test_long_path();
	return tap_done();
}
