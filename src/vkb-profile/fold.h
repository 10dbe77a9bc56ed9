/*
 * Folds the output of 'perf script' into stacks: "comm;main;call 12". The
 * weight is the number of samples, or time: a clock sample counts its period, a
 * context switch the time until its thread runs again.
 */
#ifndef FOLD_H
#define FOLD_H

#include <stdbool.h>
#include <stdio.h>

struct fold;

/* Fields to ask for with 'perf script -F'; also needs --ns. */
#define FOLD_FIELDS "comm,tid,time,period,event,ip,sym,dso"

struct fold *fold_new(bool by_time);
void fold_free(struct fold *);

/* Reads one line without newline. */
void fold_line(struct fold *, const char *line);

/* Call it after the last line: ends the waits of threads still off the CPU. */
void fold_finish(struct fold *);

struct fold_sum {
	unsigned long long samples;  /* of the clock or counter */
	unsigned long long switches; /* away from the CPU */
	unsigned long long lost;     /* records, as perf reports */
	unsigned long long unparsed; /* lines that could not be parsed */
	double cpu_s; /* sum of clock periods; 0 unless by_time */
	double blocked_s, preempted_s;
};

struct fold_sum fold_sum(const struct fold *);

/* Writes "STACK WEIGHT" lines in order of first appearance; weights are samples
 * or, with by_time, microseconds. */
void fold_write(const struct fold *, FILE *);

#endif
