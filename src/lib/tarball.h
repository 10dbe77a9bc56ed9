/*
 * Release archives (libarchive): tar in any compression, or zip. As releases
 * are, all is in one folder, whose name is left off. What they hold is not
 * trusted: nothing in them can name a place outside.
 */
#ifndef TARBALL_H
#define TARBALL_H

#include <stdbool.h>
#include <stddef.h>

struct tarball;

/* Borrowed until the next call. */
struct tarball_file {
	const char *path; /* relative, without '.' and '..' */
	bool program;     /* may be executed */
	bool link;        /* symbolic: 'data' is what it points at, within */
	const char *data;
	size_t len;
	long long time; /* of its last change, since 1970; 0 unknown */
};

/* Does the name say that it is one? */
bool tarball_named(const char *file);

/* NULL, and said: it cannot be read or is no archive. */
struct tarball *tarball_open(const char *file);
void tarball_close(struct tarball *);

/*
 * The next file or link. 1; 0: that was all; -1, and said: it is cut short or
 * corrupt, holds what no sources hold, leads outside, or is larger than
 * TARBALL_FILE (one), TARBALL_ALL (together) or TARBALL_COUNT.
 */
int tarball_next(struct tarball *, struct tarball_file *);

/*
 * The same, but the bytes of a file are not read: f->data is "" and f->len is
 * the size that the archive states, or 0. tarball_read() gives the bytes, as
 * many as there are: TARBALL_FILE and TARBALL_ALL are not checked.
 */
int tarball_step(struct tarball *, struct tarball_file *);

/* The files and links in the folder, as one archive (gzip) in which it is
 * called 'top'. It appears whole. 0, or -1 and said. */
int tarball_pack(const char *archive, const char *top, const char *dir);

/*
 * A file, or bytes in memory (borrowed), that bzip2, gzip, xz or zstd made, or
 * that are plain: as the bytes they mean. 'name' is for messages.
 */
struct tarball *tarball_plain(const char *file);
struct tarball *tarball_plain_memory(const void *, size_t n, const char *name);
/* Reads at most n bytes into 'to'. Returns their number, 0 at the end, or -1
 * after reporting that the archive is cut short or corrupt. */
long tarball_read(struct tarball *, void *to, size_t n);

#define TARBALL_FILE (64LL << 20)
#define TARBALL_ALL (1LL << 30)
#define TARBALL_COUNT 100000

#endif
