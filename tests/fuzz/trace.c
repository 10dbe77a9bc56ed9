/* Foreign bytes as a trace: what is read is written back the same. */
#include "sink.h"
#include "tracefile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracefile_command c;
	struct tracefile_totals totals;
	struct tracefile *t;
	const char *address;
	char path[64], *why = NULL;
	int fd = sink_memory(data, size);
	size_t sum = 0;

	if (fd < 0)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	t = tracefile_open(path, &why);
	if (!t && !why)
		abort();
	while (t && tracefile_next(t, &c, &address) > 0)
		for (size_t i = 0; i < c.n; i++)
			for (size_t k = 0; k < c.words[i].n; k++)
				sum += (unsigned char)c.words[i].s[k];
	tracefile_close(t);
	free(why);
	why = NULL;
	if (tracefile_totals(path, &totals, &why) < 0 && !why)
		abort();
	free(why);
	close(fd);
	return sum == SIZE_MAX;
}
