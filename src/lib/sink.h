/*
 * Text that is written to a descriptor piece by piece as it grows, without its
 * secrets (redact.h), or, without a descriptor, kept in memory.
 *
 *	struct sink o = {.fd = 1};
 */
#ifndef SINK_H
#define SINK_H

#include "str.h"

struct sink {
	struct str s; /* text to be written */
	int fd;       /* borrowed; -1: keep the text */
	int rc;       /* -1: a write failed and was reported */
};

/* Writes n bytes, in several calls of write(2) if needed. Returns 0, or -1 with
 * errno. */
int sink_write(int fd, const void *, size_t n);

/* The same for a whole text, without its secrets (redact.h). */
int sink_text(int fd, const char *, size_t n);

/* Reports with errno that a record cannot be written to the file that is open
 * as 'fd', by its name. Returns -1. */
int sink_fail(int fd);

/* Returns the descriptor, at offset 0, of a file in memory with n bytes; or -1
 * with errno. */
int sink_memory(const void *, size_t n);

/* Copies what can still be read from 'in' to 'out'. Returns the number of
 * bytes, or -1 with errno. */
long long sink_copy(int in, int out);

/* Writes the text if it is long; call it often. */
void sink_relieve(struct sink *);

/* Writes all text now, and keeps the memory for more. Returns as sink_close. */
int sink_flush(struct sink *);

/* Writes the rest and frees it. Returns 0, or -1 if any write failed. */
int sink_close(struct sink *);

#endif
