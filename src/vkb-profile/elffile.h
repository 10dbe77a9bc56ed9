/*
 * What the file of a program tells: the functions whose names match a pattern,
 * and whether it keeps frame pointers. If it does, perf unwinds stacks by them,
 * which is cheap; otherwise perf must copy the stacks (dwarf). Programs are
 * 64-bit ELF files in this machine's byte order.
 */
#ifndef ELFFILE_H
#define ELFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile_function {
	char *name;
	uint64_t offset; /* in the file */
};

struct elffile_functions {
	struct elffile_function *v; /* sorted by offset, without duplicates */
	size_t n, cap;
	size_t seen; /* functions in the file, matching or not */
};

/* Adds the functions of the file at 'path' that match a shell pattern; suffixes
 * of the compiler (".part.0") are ignored. Returns 0, or -1 after reporting an
 * error. */
int elffile_read_functions(struct elffile_functions *, const char *path,
    const char *const *patterns, size_t n);
void elffile_free_functions(struct elffile_functions *);

struct elffile_frames {
	const char *call_graph; /* fp or dwarf */
	char why[80];           /* the reason, for the record */
};

/* 'exe' is the path of the program, or NULL if unknown. */
struct elffile_frames elffile_choose_frames(const char *exe);

/* For tests: returns whether x86-64 machine code keeps frame pointers. */
bool elffile_has_frames(const unsigned char *code, unsigned long n);

#endif
