/* Shows progress on a terminal. */
#ifndef METER_H
#define METER_H

#include <stdint.h>

#include "statusline.h"

struct meter {
	struct statusline line;
	const char *name;
	double whole;    /* rows or bytes at the end; 0: unknown */
	int64_t started; /* ns of clock_ns */
};

void meter_begin(struct meter *, const char *name, double whole);
/* 'done': rows or bytes of the whole. 'bytes': bytes so far, for the speed. */
void meter_draw(struct meter *, double done, double bytes);

#endif
