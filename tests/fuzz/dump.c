/* Foreign bytes as a dump of a wiki: its articles are found, or refused. */
#include "str.h"
#include "vkb-gendata/articles.h"

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
	struct article a = {0};
	struct articles *all;
	struct str plain = {0};
	char name[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	all = articles_open(name, 1);
	while (all && articles_read_next(all, &a) > 0) {
		article_decode(&a, &plain);
		if (a.text.len > size)
			abort();
	}
	articles_close(all);
	article_free(&a);
	str_free(&plain);
	close(fd);
	return 0;
}
