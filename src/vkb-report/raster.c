#include "raster.h"
#include "err.h"
#include "proc.h"
#include "sink.h"
#include "str.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATIENCE_MS = 120000 };

static int
run_rsvg_convert(int in, int out, int err)
{
	static const char *const argv[] = {
	    "rsvg-convert", "--format=png", "--zoom=2", NULL};
	const struct proc_spec spec = {.argv = argv,
	    .in = in,
	    .out = out,
	    .err = err,
	    .session = true,
	    .death_signal = SIGKILL};
	struct proc *p = proc_start(&spec);
	struct str message = {0};
	int status, rc = -1;

	if (!p) {
		if (errno == ENOENT)
			err_say(
			    "cannot make a PNG: install rsvg-convert (package "
			    "librsvg2-bin or librsvg2-tools), or use --svg");
		return -1;
	}
	if (!proc_wait(p, PATIENCE_MS, &status))
		err_say(
		    "'rsvg-convert' did not finish in time and was stopped");
	else if (status) {
		lseek(err, 0, SEEK_SET);
		str_read(&message, err);
		err_say("'rsvg-convert' failed: %s",
		    message.len ? message.s : "no error message");
	} else
		rc = 0;
	str_free(&message);
	proc_free(p);
	return rc;
}

int
raster_png(struct str *to, const struct str *svg)
{
	int fd[3], rc = 0;

	for (size_t i = 0; i < 3; i++)
		fd[i] = memfd_create("plot", MFD_CLOEXEC);
	if (fd[0] < 0 || fd[1] < 0 || fd[2] < 0 ||
	    sink_write(fd[0], svg->s, svg->len) < 0 ||
	    lseek(fd[0], 0, SEEK_SET) < 0)
		rc = err_fail_sys("cannot keep a plot in memory");
	if (rc == 0)
		rc = run_rsvg_convert(fd[0], fd[1], fd[2]);
	if (rc == 0 &&
	    (lseek(fd[1], 0, SEEK_SET) < 0 || str_read(to, fd[1]) < 0))
		rc = err_fail_sys("cannot read a plot from memory");
	for (size_t i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return rc;
}
