/*
 * Foreign text as what perf script prints, as folded stacks and as counts of
 * callgrind: folded, and drawn.
 */
#include "str.h"
#include "callgraph.h"
#include "vkb-flame/calltree.h"
#include "vkb-flame/counts.h"
#include "vkb-flame/folded.h"
#include "vkb-flame/folding.h"
#include "vkb-flame/input.h"
#include "vkb-flame/svg.h"
#include "vkb-flame/unfold.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct folding_opts o = {.pid = size & 1,
	    .tid = size & 2,
	    .kernel = size & 4,
	    .jit = size & 8,
	    .addrs = size & 16};
	struct calltree *t;
	struct callgraphs counts = {0}, none = {0};
	struct str s = {0};
	char path[64], *event = NULL;
	int fd;

	if (size >= 8 && memcmp(data, "PERFILE2", 8) == 0)
		return -1; /* perf would read it */
	t = calltree_new(2);
	fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	input_read(path, &(struct input_target){t, 0, 1, &counts, &event}, &o);
	for (size_t i = 0; i < counts.n; i++)
		unfold_graph(&counts.v[i], t, 0);
	counts_write(&s, size & 64 ? &counts : &none, &counts, 0);
	calltree_sum(t);
	folded_write(&s, t, (const double *const *)t->self, 1);
	svg_write(
	    &s, t, NULL, &(struct svg_opts){.width = 800, .icicle = size & 32});
	str_free(&s);
	callgraph_free(&counts);
	calltree_free(t);
	free(event);
	close(fd);
	return 0;
}
