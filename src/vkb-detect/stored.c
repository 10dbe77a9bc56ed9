#include "stored.h"
#include "branch.h"
#include "err.h"
#include "jsonl.h"
#include "proc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define PROGRAM "vkb-pgpush"

static struct proc *
start_export(const char *database, const char *table, int out)
{
	char *path = proc_beside(PROGRAM);
	const char *argv[] = {path, "--export", "--table",
	    table ? table : "core", NULL, NULL, NULL};
	struct proc_spec spec = {
	    .argv = argv, .out = out, .death_signal = SIGTERM};
	struct proc *p;

	if (database) {
		argv[4] = "--database";
		argv[5] = database;
	}
	p = proc_start(&spec);
	free(path);
	return p;
}

int
stored_read(struct branch *b, const char *database, const char *table)
{
	struct proc *p;
	struct jsonl *in;
	int fd[2], status, rc;
	char how[80];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_fail_sys("cannot make a pipe");
	p = start_export(database, table, fd[1]);
	close(fd[1]);
	in = jsonl_fd(fd[0], "database");
	rc = p ? branch_read(b, in) : -1;
	jsonl_close(in);
	if (p && proc_wait(p, -1, &status) && status)
		rc = err_fail(
		    PROGRAM " %s", proc_ended(status, how, sizeof how));
	proc_free(p);
	return rc;
}
