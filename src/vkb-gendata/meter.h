/* How far it is, on a terminal: one line that is redrawn. */
#ifndef METER_H
#define METER_H

#include <stdbool.h>
#include <stdint.h>

struct meter {
	bool live;
	const char *name;
	double whole; /* rows or bytes at the end; 0: not known */
	int64_t started, drawn;
};

void meter_open(struct meter *, bool quiet);
void meter_close(struct meter *);
void meter_begin(struct meter *, const char *name, double whole);
/* 'done' of the whole; 'bytes' so far, for the speed. */
void meter_draw(struct meter *, double done, double bytes);

#endif
