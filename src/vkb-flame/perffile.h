/*
 * perf.data: the records of a file that `perf record` wrote, in the order of
 * their times. (linux/tools/perf/Documentation/perf.data-file-format.txt)
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

/* What is borrowed lives as long as the file. */
struct perffile_record {
	enum perffile_kind kind;
	enum perffile_mode mode; /* of a sample's own address, of a map */
	uint32_t pid, tid;
	uint32_t parent, parent_tid;    /* PERFFILE_FORK */
	const char *name;               /* of the map, or of the thread */
	uint64_t start, length, offset; /* PERFFILE_MAP */
	unsigned char id[20];           /* build-id of the map */
	size_t nid;                     /* 0: it is not there */
	const char *event;              /* PERFFILE_SAMPLE, from here on */
	double weight;              /* as perf script says: a period, or 1 */
	const unsigned char *chain; /* u64, innermost first, not aligned */
	size_t nchain;              /* 0: there is none, 'ip' is all */
	uint64_t ip;
};

/* fd is borrowed. NULL, and said: it cannot be read, or what it has is for
 * `perf script` (user stacks, compressed data, a pipe's format). */
struct perffile *perffile_open(int fd, const char *name);
void perffile_close(struct perffile *);

/* 1, 0 at the end. A broken record is passed over; broken() says how many. */
int perffile_next(struct perffile *, struct perffile_record *);
size_t perffile_broken(const struct perffile *);

/* The build-id of a file, where the header has one; its length, or 0. */
size_t perffile_build_id(
    const struct perffile *, const char *file, unsigned char id[20]);

#endif
