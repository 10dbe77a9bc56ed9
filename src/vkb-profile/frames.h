/*
 * Detects whether a program keeps frame pointers. If it does, perf unwinds
 * stacks by them, which is cheap; otherwise perf must copy the stacks (dwarf).
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>

struct frames {
	const char *call_graph; /* fp or dwarf */
	char why[80];           /* the reason, for the record */
};

/* 'exe' is the path of the program, or NULL if unknown. */
struct frames frames_choose(const char *exe);

/* For tests: returns whether x86-64 machine code keeps frame pointers. */
bool frames_detect(const unsigned char *code, unsigned long n);

#endif
