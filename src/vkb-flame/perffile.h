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

/* Borrowed pointers live as long as the file, 'name' until the next record. */
struct perffile_record {
	uint32_t type; /* PERF_RECORD_MMAP, _COMM, _FORK or _SAMPLE */
	uint32_t mode; /* PERF_RECORD_MISC_USER etc.: of 'ip', or of the map */
	uint64_t time; /* of a sample */
	uint32_t pid, tid;
	uint32_t parent, parent_tid;    /* of PERF_RECORD_FORK */
	const char *name;               /* of the map, or of the thread */
	uint64_t start, length, offset; /* of the map */
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
size_t perffile_count_broken(const struct perffile *);

/* Returns the length of a file's build-id in the header, or 0. */
size_t perffile_build_id(
    const struct perffile *, const char *file, unsigned char id[20]);

#endif
