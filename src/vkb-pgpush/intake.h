/*
 * What is to be stored: run records and metrics.json, from files, standard
 * input, or folders of results, as rows of a spool.
 */
#ifndef INTAKE_H
#define INTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct changes;
struct frames;
struct machines;
struct spool;

struct intake {
	struct spool *spool;
	struct frames *frames;     /* of that spool */
	struct machines *machines; /* env records go there */
	struct changes *changes;   /* change records */
	const char *test_type;
	bool releases; /* they go by their names */
	size_t failed; /* of the runs that are in the spool */
};

/*
 * 'path' is a file, "-", or a folder: its metrics.json and those of the
 * folders in it, whose names are the refs. Where vkb-bench left the records
 * that a metrics.json was made of, in runs beside it, they are read instead. 0,
 * or -1 and said: something could not be read, the rest is there.
 */
int intake_read(struct intake *, const char *path);

#endif
