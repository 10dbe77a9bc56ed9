/* Foreign text as a line of MONITOR: what was read is written and read back. */
#include "vkb-record/monline.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct monline a = {0}, b = {0};
	struct str s = {0};

	if (!monline_parse((const char *)data, size, &a)) {
		monline_append(&s, &a);
		if (monline_parse(s.s, s.len, &b) || a.n != b.n ||
		    a.us != b.us || a.db != b.db ||
		    a.bytes.len != b.bytes.len ||
		    (a.bytes.len &&
			memcmp(a.bytes.s, b.bytes.s, a.bytes.len) != 0))
			abort();
	}
	monline_free(&a);
	monline_free(&b);
	str_free(&s);
	return 0;
}
