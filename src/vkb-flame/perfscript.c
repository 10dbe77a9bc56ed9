#include "perfscript.h"
#include "err.h"
#include "lines.h"
#include "mem.h"
#include "perftext.h"
#include "proc.h"
#include "str.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Starts perf, which writes to the returned file. Returns NULL after reporting
 * an error. 'null' and 'messages' are descriptors. */
static FILE *
start_perf(const char *file, int null, int messages, struct proc **p)
{
	/* --no-inline takes a tenth of the time; --force accepts a file of
	 * another user. */
	const char *const argv[] = {"perf", "script", "--no-inline", "--force",
	    "-F", "+pid", "-i", file, NULL};
	/* libdw would send the build-ids of local files to servers. */
	const char *const setenv[] = {
	    "LC_ALL", "C", "DEBUGINFOD_URLS", "", NULL};
	struct proc_spec spec = {.argv = argv,
	    .setenv = setenv,
	    .in = null,
	    .err = messages,
	    .group = true,
	    .death_signal = SIGKILL};
	int fds[2];

	if (null < 0 || messages < 0 || pipe2(fds, O_CLOEXEC) < 0) {
		err_fail_sys("cannot start perf");
		return NULL;
	}
	spec.out = fds[1];
	*p = proc_start(&spec);
	close(fds[1]);
	if (*p)
		return fdopen(fds[0], "re");
	close(fds[0]);
	return NULL;
}

/* Reports what perf wrote to 'messages', and how it ended. Returns 0 or -1. */
static int
check_end(struct proc *p, int messages, const char *file)
{
	struct str text = {0};
	char how[64];
	int status, rc = 0;

	proc_wait(p, -1, &status);
	if (lseek(messages, 0, SEEK_SET) < 0 || str_read(&text, messages) < 0)
		rc = err_fail_sys("cannot read the messages of perf");
	while (text.len && text.s[text.len - 1] == '\n')
		text.s[--text.len] = '\0';
	if (status != 0)
		rc = err_fail("%s: 'perf script' %s%s%s", file,
		    proc_ended(status, how, sizeof how), text.len ? ":\n" : "",
		    text.len ? text.s : "");
	else if (text.len)
		err_say("%s: 'perf script' says:\n%s", file, text.s);
	str_free(&text);
	return rc;
}

int
perfscript_read(const char *file, struct folding *f)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int messages = memfd_create("messages", MFD_CLOEXEC), rc = -1;
	char *found = proc_find("perf", getenv("PATH"));
	struct proc *p = NULL;
	struct lines *l;
	FILE *out = NULL;

	if (!found)
		err_fail(
		    "%s: perf reads this file, and is not in PATH: "
		    "install it with 'vkb-needs --yes test' or the package "
		    "linux-perf",
		    file);
	else
		out = start_perf(file, null, messages, &p);
	if (out) {
		char *name = mem_printf("%s (perf script)", file);

		l = lines_open(out, name);
		rc = perftext_read(l, f);
		lines_close(l);
		rc |= check_end(p, messages, file);
		free(name);
	}
	proc_free(p);
	free(found);
	if (messages >= 0)
		close(messages);
	if (null >= 0)
		close(null);
	return rc;
}
