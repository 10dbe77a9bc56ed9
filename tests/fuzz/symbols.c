/* Foreign bytes as a program with names of functions. */
#include "elffile.h"
#include "vkb-profile/symbols.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const patterns[] = {"*"};
	struct elffile *elf = elffile_memory(data, size);
	struct symbols s = {0};

	if (!elf)
		return 0;
	symbols_match(&s, elf, patterns, 1);
	for (size_t i = 0; i < s.n; i++)
		if (s.v[i].offset >= size || !*s.v[i].name ||
		    (i && s.v[i].offset <= s.v[i - 1].offset))
			abort();
	symbols_free(&s);
	elffile_close(elf);
	return 0;
}
