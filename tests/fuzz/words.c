/* Foreign words as numbers, durations, sizes and CPU lists. */
#include "cpulist.h"
#include "num.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The canonical text of a list is that list. */
static void
cpus(const char *s)
{
	cpu_set_t set, again;
	const char *why = NULL;
	char *text;

	if (cpulist_parse(s, &set, &why) < 0) {
		if (!why)
			abort();
		return;
	}
	text = cpulist_text(&set);
	if (cpulist_parse(text, &again, &why) < 0 || !CPU_EQUAL(&set, &again))
		abort();
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1), buf[NUM_BUF];
	long long i;
	double d;

	if (!s)
		abort();
	memcpy(s, data, size);
	s[size] = '\0';
	if (num_int(s, &i) == 0)
		num_human(buf, (double)i);
	if (num_size(s, &i) == 0 && i < 0 && *s != '-')
		abort();
	if (num_real(s, &d) == 0 && !isfinite(d))
		abort();
	if (num_duration(s, &d) == 0) {
		if (!isfinite(d))
			abort();
		num_seconds(buf, d);
	}
	cpus(s);
	free(s);
	return 0;
}
