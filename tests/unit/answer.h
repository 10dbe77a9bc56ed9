/* A server with one answer, for what a client makes of it. */
#ifndef ANSWER_H
#define ANSWER_H

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Starts a child that sends 'answer' to the first that asks at a unix socket.
 */
static pid_t
answer_first(const char *path, const char *answer)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), c;
	char buf[256];
	pid_t pid;

	unlink(path);
	strcpy(a.sun_path, path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
	    listen(fd, 4) < 0)
		abort();
	pid = fork();
	if (pid < 0)
		abort();
	if (pid > 0) {
		close(fd);
		return pid;
	}
	c = accept(fd, NULL, NULL);
	if (read(c, buf, sizeof buf) > 0 &&
	    write(c, answer, strlen(answer)) < 0)
		_exit(1);
	while (read(c, buf, sizeof buf) > 0)
		continue;
	_exit(0);
}

#endif
