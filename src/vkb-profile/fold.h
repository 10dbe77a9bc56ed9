/*
 * What 'perf script' prints, as folded stacks: "comm;main;call 12". By samples,
 * or by time: a sample of a clock is worth its period, one of a context switch
 * the time until its thread runs again.
 */
#ifndef FOLD_H
#define FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fold;

/* What 'perf script -F' shall print for this, and a time in nanoseconds. */
#define FOLD_FIELDS "comm,tid,time,period,event,ip,sym,dso"

struct fold *fold_new(bool by_time);
void fold_free(struct fold *);

/* One line, without its newline; it is written in. */
void fold_line(struct fold *, char *line);

/* After the last line: threads that did not run again were off until now. */
void fold_end(struct fold *);

struct fold_sum {
	unsigned long long samples;  /* of the clock or counter */
	unsigned long long switches; /* away from the CPU */
	unsigned long long lost;
	unsigned long long strange; /* lines that are none of these */
	double cpu_s;               /* by the clock; only where by time */
	double blocked_s, preempted_s;
};

struct fold_sum fold_sum(const struct fold *);

/*
 * Writes "STACK WEIGHT" lines, in the order the stacks came; weights are
 * samples or microseconds.
 */
void fold_write(const struct fold *, FILE *);

#endif
