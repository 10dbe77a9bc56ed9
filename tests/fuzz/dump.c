/* Foreign bytes as a dump of a wiki: its articles are found, or refused. */
#include "str.h"
#include "vkb-gendata/wikipedia.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct articles *all;
	struct str text = {0};
	char name[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	all = wikipedia_open(name);
	while (all && wikipedia_read_next(all, &text) > 0)
		;
	wikipedia_close(all);
	str_free(&text);
	close(fd);
	return 0;
}
