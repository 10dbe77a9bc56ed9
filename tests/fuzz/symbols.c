/* Foreign bytes as a program with names of functions. */
#include "vkb-profile/elffile.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const patterns[] = {"*"};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elffile_functions s = {0};
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	elffile_read_functions(&s, path, patterns, 1);
	for (size_t i = 0; i < s.n; i++)
		if (s.v[i].offset >= size || !*s.v[i].name ||
		    (i && s.v[i].offset <= s.v[i - 1].offset))
			abort();
	elffile_free_functions(&s);
	close(fd);
	return 0;
}
