/* Foreign text as a profile of callgrind: its sums agree with each other. */
#include "callgrind.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct callgrind g;
	uint64_t sum = 0;

	if (!in)
		return 0;
	if (callgrind_read(&g, in, "fuzz", 0) == 0) {
		for (size_t i = 0; i < g.nfunctions; i++)
			sum += g.functions[i].self[0];
		if (sum != g.total[0])
			abort();
		for (size_t i = 0; i < g.ncalls; i++)
			if (g.calls[i].from >= g.nfunctions ||
			    g.calls[i].to >= g.nfunctions)
				abort();
	}
	callgrind_free(&g);
	fclose(in);
	return 0;
}
