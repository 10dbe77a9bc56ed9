/* Requests are arrays of bulk strings, as replies may be. */
#ifndef RESP_H
#define RESP_H

#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/scan.h"

#include <stdlib.h>

static inline void
resp_error(void *arg, const char *line, uint32_t nth)
{
	(void)arg;
	(void)line;
	(void)nth;
}

/* The values of a text are constant, and those that its size chooses. */
static inline void
resp_choose_values(struct engine_work *w, size_t choice)
{
	static const char *const texts[] = {
	    "1-300", "9 random", "2:1,200:3 compressible:3", "5-6 random"};

	w->data_size = 3;
	if (valuespec_parse(texts[choice % 4], &w->values))
		abort();
}

/* Aborts where 'buf' is not 'made' of them. */
static inline void
resp_check(const char *buf, size_t n, uint32_t made)
{
	struct scan_counters t = {0};
	struct scan s = {0};

	if (scan_feed(&s, buf, n, made, &t, resp_error, NULL) != (ptrdiff_t)n ||
	    t.replies != made)
		abort();
}

#endif
