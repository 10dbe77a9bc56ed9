/*
 * spent LABEL FILE COMMAND...: runs the command, its output dropped, and says
 * what it took: CPU seconds, megabytes of FILE in each, most memory at once.
 */
#include "err.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int
main(int argc, char **argv)
{
	struct rusage r;
	struct stat st;
	double cpu;
	int status;
	pid_t pid;

	err_init(argv[0]);
	if (argc < 4 || stat(argv[2], &st) < 0)
		err_die("usage: spent LABEL FILE COMMAND...");
	pid = fork();
	if (pid == 0) {
		int fd = open("/dev/null", O_WRONLY);

		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
			_exit(126);
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &r) < 0)
		err_die("cannot run '%s'", argv[3]);
	cpu = seconds(r.ru_utime) + seconds(r.ru_stime);
	printf("%-30s %7.2f CPU s %6.0f MB/s %6.0f MB memory%s\n", argv[1], cpu,
	    (double)st.st_size / 1e6 / cpu, (double)r.ru_maxrss / 1e3,
	    WIFEXITED(status) && WEXITSTATUS(status) < 2 ? "" : " (failed)");
	return 0;
}
