/* Foreign bytes as an append-only file, hashed: the trace of it is valid. */
#include "sink.h"
#include "tracefile.h"
#include "vkb-record/aof.h"
#include "vkb-record/recorder.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct tracefile_command c;
	struct recorder *r;
	struct tracefile *t;
	const char *address;
	char path[64], *why = NULL;
	int rc;

	if (fd < 0)
		abort();
	if (in) {
		r = recorder_new(fd, "aof", RECORDER_KEYS | RECORDER_VALUES);
		aof_read(r, in, "fuzz");
		if (recorder_end(r, true) < 0)
			abort();
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		t = tracefile_open(path, &why);
		if (!t)
			abort();
		while ((rc = tracefile_next(t, &c, &address)) > 0)
			continue;
		if (rc < 0)
			abort();
		tracefile_close(t);
		fclose(in);
	}
	close(fd);
	return 0;
}
