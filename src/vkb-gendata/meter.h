/* Shows progress on a terminal, in one line of stderr that is redrawn. */
#ifndef METER_H
#define METER_H

#include <stdbool.h>
#include <stdint.h>

struct meter {
	bool live; /* stderr is a terminal, and not --quiet */
	const char *name;
	double whole;           /* rows or bytes at the end; 0: unknown */
	int64_t started, drawn; /* ns of clock_ns */
};

void meter_open(struct meter *, bool quiet);
void meter_close(struct meter *);
void meter_begin(struct meter *, const char *name, double whole);
/* 'done': rows or bytes of the whole. 'bytes': bytes so far, for the speed. */
void meter_draw(struct meter *, double done, double bytes);

#endif
