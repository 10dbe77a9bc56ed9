/*
 * Reads run records and metrics.json from files, standard input or folders of
 * results into a spool.
 */
#ifndef INTAKE_H
#define INTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct others;
struct spool;

struct intake {
	struct spool *spool;
	struct others *others; /* gets the records that are not runs */
	const char *test_type;
	bool releases; /* runs of releases: their commit is the label or ref */
	size_t failed; /* runs in the spool with a status other than ok */
};

/*
 * Reads 'path': a file, "-", or a folder with a metrics.json in it or in its
 * subfolders, whose names are the refs. Records that vkb-bench left in runs/
 * beside a metrics.json are read instead of it. Continues after errors. Returns
 * 0, or -1 (errors reported).
 */
int intake_read(struct intake *, const char *path);

#endif
