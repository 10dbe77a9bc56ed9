/* Foreign bytes as an append-only file, hashed: the trace of it is valid. */
#include "sink.h"
#include "tracecheck.h"
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
	struct recorder *r;

	if (fd < 0)
		abort();
	if (in) {
		r = recorder_new(fd, "aof", RECORDER_KEYS | RECORDER_VALUES);
		aof_read(r, in, "fuzz");
		if (recorder_end(r, true) < 0)
			abort();
		check_trace(fd);
		fclose(in);
	}
	close(fd);
	return 0;
}
