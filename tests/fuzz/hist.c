/* Foreign text as an HdrHistogram: what is accepted survives a round trip. */
#include "hist.h"
#include "histcodec.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hist *h, *again;
	struct str s = {0};
	const char *why = NULL;

	h = histcodec_decode((const char *)data, size, &why);
	if (!h) {
		if (!why)
			abort();
		return 0;
	}
	histcodec_encode(&s, h);
	again = histcodec_decode(s.s, s.len, &why);
	if (!again || hist_count(again) != hist_count(h) ||
	    hist_quantile(again, .5) != hist_quantile(h, .5))
		abort();
	if (hist_quantile(h, .5) > hist_quantile(h, .99))
		abort();
	hist_free(again);
	hist_free(h);
	str_free(&s);
	return 0;
}
