/*
 * One line of stderr that is drawn again and again, if stderr is a terminal.
 * Messages of err.h clear it first.
 */
#ifndef STATUSLINE_H
#define STATUSLINE_H

#include <stdbool.h>
#include <stdint.h>

struct statusline {
	bool live;     /* stderr is a terminal, and not 'quiet' */
	int64_t drawn; /* ns of clock_ns; 0: the next text comes at once */
};

void statusline_open(struct statusline *, bool quiet);
void statusline_close(struct statusline *);

/* Is it time to draw again? It is every 200 ms; the caller then draws. */
bool statusline_is_due(struct statusline *);

/* Draws the text, cut to the width of the terminal. */
void statusline_draw(const char *text);

/* Clears the line; to be called before other output to the terminal. */
void statusline_clear(void);

#endif
