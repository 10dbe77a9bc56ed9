#include "shown.h"
#include "err.h"
#include "mem.h"
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 9999 }; /* files in a folder */

/* Returns the n-th name, from 1; caller frees. */
static char *
format_name(int n)
{
	return n == 1 ? mem_str("runs.jsonl") : mem_printf("runs-%d.jsonl", n);
}

char *
shown_make_file(bool quiet)
{
	for (int n = 1; n <= MOST; n++) {
		char *name = format_name(n);
		int fd =
		    open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

		if (fd >= 0) {
			close(fd);
			if (!quiet)
				err_say("the runs are written to '%s'", name);
			return name;
		}
		free(name);
		if (errno != EEXIST)
			break;
	}
	err_fail_sys("cannot make 'runs.jsonl' in this folder for the runs; "
		     "name a file with '--output'");
	return NULL;
}

int
shown_write_table(const char *path)
{
	char *program = proc_beside("vkb-stats");
	const char *const argv[] = {program, "--text", path, NULL};
	const struct proc_spec spec = {.argv = argv, .death_signal = SIGKILL};
	struct proc *p = NULL;
	struct stat st;
	int status, rc = -1;

	if (stat(path, &st) == 0 && st.st_size == 0)
		rc = unlink(path) < 0
		    ? err_fail_sys("cannot remove the empty '%s'", path)
		    : 0;
	else if ((p = proc_start(&spec)))
		rc = proc_wait(p, -1, &status) == 1 && status == 0 ? 0 : -1;
	proc_free(p);
	free(program);
	return rc;
}
