/*
 * Reads the lines that 'perf script' prints: samples, their frames, and records
 * of processes. The fields comm, pid or tid, event, ip and sym are needed; cpu,
 * time, period, symoff, dso and srcline are understood.
 */
#ifndef PERFSCRIPT_H
#define PERFSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed text without a NUL at its end. */
struct perfscript_text {
	const char *s;
	size_t n;
};

struct perfscript_event {
	struct perfscript_text comm, pid, tid; /* pid empty: unknown */
	struct perfscript_text name;           /* "cycles:u"; may be empty */
	struct perfscript_text record;         /* "SWITCH OUT", or empty */
	bool timed;                            /* has a CPU or a time */
	uint64_t ns;                           /* its time; 0 if it has none */
	double period;                         /* 1 if it has none */
	const char *rest;                      /* behind the name */
};

/*
 * Parses a line from its first character that is not a blank; false: it is not
 * an event.
 *
 * The name of a process may contain all that follows it, and perf quotes
 * nothing, so it ends at the first place behind which the text is like perf's
 * own: a pid (of 5 characters and more, with the blanks in front), a CPU if
 * any, and a time with 6 or 9 decimals. Without such a place it ends before a
 * number and any time, a pid and a CPU, a pid, a number and a CPU, or a number.
 * A line with such a time but without such a pid is not an event: of "job 7
 * 25775.618477: cycles:" it is unknown whether the 7 is a pid.
 */
bool perfscript_parse_event(
    const char *line, const char *end, struct perfscript_event *);

/* What is done with each sample, which 'begin' may refuse: its frames are then
 * left out. The frames come from the innermost. */
struct perfscript_handler {
	bool (*begin)(void *, const struct perfscript_event *);
	void (*frame)(void *, struct perfscript_text pc,
	    struct perfscript_text symbol, struct perfscript_text module);
	void (*end)(void *);
	void *arg;
};

/*
 *   java 24636/25607 [000] 94564.109216: 100 cycles:
 *        67fa7 dictFind+0x67 (/usr/bin/valkey-server)
 *       false 39654 19115.489713: 1 cycles:u:  ffff9b20 main+0x4 (/bin/false)
 *
 * An event with frames below it, a frame, and an event without a call chain,
 * behind which its only frame stands. A blank line ends the frames.
 */
enum perfscript_state {
	PERFSCRIPT_OUTSIDE, /* not in an event */
	PERFSCRIPT_EVENT,   /* after the line of a counted event */
	PERFSCRIPT_EMPTY,   /* the same, after a blank line */
	PERFSCRIPT_FRAMES,  /* after a frame of a counted event */
	PERFSCRIPT_OTHERS   /* in an event that is not counted */
};

struct perfscript {
	struct perfscript_handler to;
	enum perfscript_state state;
	bool indented; /* the event has blanks in front, as others may have */
	bool frames;   /* there was one */
};

/* Reads a line of n bytes, without its newline. False: it is neither an event
 * nor a frame. */
bool perfscript_read_line(struct perfscript *, const char *line, size_t n);

/* Ends the last sample. */
void perfscript_finish(struct perfscript *);

#endif
