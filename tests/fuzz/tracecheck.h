/* What the targets of vkb-record check of the trace that they made. */
#ifndef TRACECHECK_H
#define TRACECHECK_H

#include "tracefile.h"

#include <stdio.h>
#include <stdlib.h>

/* Reads the whole trace; aborts if it is not valid. */
static void
check_trace(int fd)
{
	struct tracefile_command c;
	char path[64], *why = NULL;
	struct tracefile *t;
	const char *address;
	int rc;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	t = tracefile_open(path, &why);
	if (!t)
		abort();
	while ((rc = tracefile_next(t, &c, &address)) > 0)
		continue;
	if (rc < 0)
		abort();
	tracefile_close(t);
}

#endif
