/*
 * What libFuzzer calls in the one program of all targets. It is compiled with
 * -DTARGETS='TARGET(config) TARGET(dump) ...', and the name that it is called
 * by chooses the target.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TARGET(name) int fuzz_##name(const uint8_t *data, size_t size);
TARGETS
#undef TARGET

static int (*target)(const uint8_t *data, size_t size);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
#define TARGET(name)                                           \
	if (strcmp(program_invocation_short_name, #name) == 0) \
		target = fuzz_##name;
	TARGETS
	if (!target)
		abort();
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return target(data, size);
}
