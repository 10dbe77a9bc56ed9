/* A foreign command line in words: quoted again they are the same. */
#include "mem.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/external/vbench.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *line, **list, **again;
	const char *why = NULL;
	size_t n, m, bytes = 0;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	list = command_split(text, &n, &why);
	if (!list && !why)
		abort();
	if (list) {
		line = vbench_text(list);
		again = command_split(line, &m, &why);
		if (!again || m != n)
			abort();
		for (size_t i = 0; i < n; i++) {
			if (strcmp(list[i], again[i]) != 0)
				abort();
			bytes += strlen(list[i]);
		}
		if (list[n] || bytes > strlen(text))
			abort();
		mem_free_list(again);
		free(line);
	}
	mem_free_list(list);
	free(text);
	return 0;
}
