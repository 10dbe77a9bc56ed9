/*
 * Reads the records of a perf.data file in order of time.
 * (linux/tools/perf/Documentation/perf.data-file-format.txt)
 */
#ifndef PERFFILE_H
#define PERFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perffile;

enum perffile_kind {
	PERFFILE_MAP,  /* a file is mapped */
	PERFFILE_COMM, /* a thread has a name */
	PERFFILE_FORK, /* a thread or process begins */
	PERFFILE_SAMPLE
};

enum perffile_mode { PERFFILE_USER, PERFFILE_KERNEL, PERFFILE_OTHER };

/* Borrowed pointers live as long as the file, 'name' until the next record. */
struct perffile_record {
	enum perffile_kind kind;
	enum perffile_mode mode; /* of a sample's own address, or of a map */
	uint32_t pid, tid;
	uint32_t parent, parent_tid;    /* PERFFILE_FORK */
	const char *name;               /* of the map, or of the thread */
	uint64_t start, length, offset; /* PERFFILE_MAP */
	unsigned char id[20];           /* build-id of the map */
	size_t nid;                     /* 0: unknown */
	const char *event;              /* of a sample, as all below */
	double weight;              /* as in perf script: the period, or 1 */
	const unsigned char *chain; /* u64, innermost first, not aligned */
	size_t nchain;              /* 0: no call chain, only 'ip' */
	uint64_t ip;
};

/* Borrows fd. Returns NULL after reporting that the file cannot be read or
 * needs `perf script` (user stacks, compressed data, a pipe's format). */
struct perffile *perffile_open(int fd, const char *name);
void perffile_close(struct perffile *);

/* Returns 1, or 0 at the end. Skips broken records and counts them. */
int perffile_next(struct perffile *, struct perffile_record *);
size_t perffile_broken(const struct perffile *);

/* Returns the length of a file's build-id in the header, or 0. */
size_t perffile_build_id(
    const struct perffile *, const char *file, unsigned char id[20]);

#endif
