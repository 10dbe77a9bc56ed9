/* Foreign bytes as packets, and as segments in any order: the trace is valid.
 */
#include "tracecheck.h"
#include "vkb-record/flow.h"
#include "vkb-record/recorder.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each segment: what is special about it, where it begins, its length. */
static void
feed_segments(struct recorder *r, const uint8_t *p, size_t n)
{
	struct flow_counts counts = {0};
	struct flow *f = flow_new("fuzz");
	struct flow_segment s;

	while (n >= 4) {
		s = (struct flow_segment){.begins = *p & 1,
		    .missing = *p >> 1 & 1,
		    .seq = UINT32_MAX - 99 + (p[1] << 8 | p[2]),
		    .n = p[3],
		    .data = (const char *)p + 4};
		p += 4;
		n -= 4;
		if (s.n > n)
			s.n = n;
		if (flow_add(f, &s, n, r, &counts) < 0)
			abort();
		p += s.n;
		n -= s.n;
	}
	if (flow_end(f, r, &counts) < 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct flow_segment s;
	struct recorder *r;

	if (fd < 0)
		abort();
	for (int link = FLOW_IP; link <= FLOW_COOKED2; link++)
		if (flow_parse(&s, (enum flow_link)link, data, size) &&
		    ((const uint8_t *)s.data < data ||
			(const uint8_t *)s.data + s.n > data + size))
			abort();
	r = recorder_new(fd, "capture", RECORDER_KEYS);
	feed_segments(r, data, size);
	if (recorder_end(r, true) < 0)
		abort();
	check_trace(fd);
	close(fd);
	return 0;
}
