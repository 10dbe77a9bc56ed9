/* A type and a value, parted by a NUL: what is wide enough stays so. */
#include "mem.h"
#include "str.h"
#include "vkb-pgpush/coltype.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *type = mem_strn((const char *)data, size);
	size_t n = strlen(type);
	const char *value = n < size ? type + n + 1 : "";
	struct coltype t = coltype_parse(type), wide;
	struct coltype_summary seen = {0};
	struct str s = {0};

	coltype_note_value(&seen, COLTYPE_STRING, value, 0);
	wide = coltype_widen(t, &seen);
	if (!coltype_equal(wide, coltype_widen(wide, &seen)))
		abort();
	if (coltype_fits(t, &seen) && !coltype_fits(wide, &seen))
		abort();
	if (coltype_is_time(value) == seen.not_time)
		abort();
	coltype_print(&s, wide);
	str_free(&s);
	free(type);
	return 0;
}
