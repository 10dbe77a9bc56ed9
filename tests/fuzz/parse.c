/*
 * Foreign text as the output of other tools: the first byte says which, or
 * that it is to be detected, and how the runs are written.
 */
#include "vkb-parse/formats.h"
#include "vkb-parse/runs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *map[] = {"rps=b,config.command=a,subject.label=c"};
	size_t n = 0, which;
	struct runs *runs;
	char path[64];
	int fd;

	if (!size)
		return 0;
	while (formats[n].name)
		n++;
	which = data[0] % (n + 1);
	fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1))
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	runs = runs_new(&(struct runs_opts){
	    .columns = {map, which < n && formats[which].maps},
	    .flat = data[0] >= 128});
	if (!runs)
		abort();
	formats_read(
	    path, which < n ? &formats[which] : NULL, data[0] % 3 == 0, runs);
	if (runs_end(runs) < 0)
		abort();
	close(fd);
	return 0;
}
