/* Foreign text as a line of MONITOR: what was read is written and read back. */
#include "vkb-record/monitor.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct monitor_line a = {0}, b = {0};
	struct str s = {0};

	if (!monitor_parse((const char *)data, size, &a)) {
		monitor_append_line(&s, &a);
		if (monitor_parse(s.s, s.len, &b) || a.n != b.n ||
		    a.us != b.us || a.db != b.db ||
		    a.bytes.len != b.bytes.len ||
		    (a.bytes.len &&
			memcmp(a.bytes.s, b.bytes.s, a.bytes.len) != 0))
			abort();
	}
	monitor_free_line(&a);
	monitor_free_line(&b);
	str_free(&s);
	return 0;
}
