/*
 * Were frame pointers kept when a program was built? Where they were, stacks
 * are found by them, which is cheap; else the stack itself has to be copied.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>

struct frames {
	const char *call_graph; /* fp or dwarf */
	char why[80];
};

/* 'exe' NULL: not known. */
struct frames frames_choose(const char *exe);

/* For tests: does machine code of x86-64 look so? */
bool frames_kept(const unsigned char *code, unsigned long n);

#endif
