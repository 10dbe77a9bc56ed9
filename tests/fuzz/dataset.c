/* Datasets: the first byte says which format, the others are the file. */
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/rowset.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each field is a bulk string, one behind the other. */
static void
check(const struct rowset *d, size_t fields)
{
	struct rowset_row r;
	uint32_t from;
	const char *v;
	size_t i, n;

	for (uint64_t row = 0; row < rowset_count(d); row++) {
		r = rowset_row(d, row);
		for (from = 0, i = 0; i < fields; from = r.ends[i++]) {
			if (r.ends[i] < from + 5 ||
			    r.ends[i] > rowset_longest(d))
				abort();
			n = r.ends[i] - from;
			v = rowset_value(r.bytes + from, &n);
			if (v + n + 2 != r.bytes + r.ends[i] ||
			    memcmp(v + n, "\r\n", 2) != 0)
				abort();
		}
	}
}

static void
read_as(const char *link, const char *const *fields, size_t n)
{
	struct dataset_want want = {.path = link, .fields = fields};
	struct rowset *d = dataset_read(&want, NULL, NULL);

	if (d)
		check(d, n);
	rowset_free(d);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = {
	    "csv", "tsv", "xml", "npy", "jsonl"};
	static const char *const two[] = {"a", "b", NULL},
				 *const one[] = {"value", NULL},
				 *const more[] = {"vector", NULL};
	static char folder[] = "/tmp/vkb-fuzz.XXXXXX";
	static int fd = -1;
	char path[64], link[64];

	if (size == 0)
		return 0;
	if (fd < 0) {
		fd = memfd_create("dataset", 0);
		if (fd < 0 || !mkdtemp(folder))
			abort();
		rmdir(folder);
	}
	if (ftruncate(fd, 0) < 0 ||
	    pwrite(fd, data + 1, size - 1, 0) != (ssize_t)size - 1)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	snprintf(link, sizeof link, "%s.%s", folder,
	    kinds[data[0] % (sizeof kinds / sizeof *kinds)]);
	unlink(link);
	if (symlink(path, link) < 0)
		abort();
	read_as(link, two, 2);
	if (data[0] % 5 == 3) {
		read_as(link, one, 1);
		read_as(link, more, 1);
	}
	unlink(link);
	return 0;
}
