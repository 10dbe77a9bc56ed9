/*
 * Release archives (libarchive): compressed tar, or zip. All files are in one
 * top folder, whose name is removed. Archives are untrusted: no path or link in
 * them can lead outside of the folder.
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
	bool link;        /* symbolic; 'data' is its target */
	const char *data;
	size_t len;
	long long time; /* of its last change, s since 1970; 0: unknown */
};

/* Does the name end like that of an archive? */
bool tarball_named(const char *file);

/* Returns NULL after reporting that it cannot be read or is not an archive. */
struct tarball *tarball_open(const char *file);
void tarball_close(struct tarball *);

/*
 * Reads the next file or link. Returns 1; 0 at the end; -1 after reporting that
 * the archive is truncated or corrupt, holds a special file or a path that
 * leads outside, or exceeds TARBALL_FILE (bytes of a file), TARBALL_ALL (bytes
 * in all) or TARBALL_COUNT (entries).
 */
int tarball_next(struct tarball *, struct tarball_file *);

/* Packs the files and links in 'dir' into an archive (gzip), in which 'dir' is
 * called 'top'. The archive appears whole. Returns 0, or -1 after reporting the
 * error. */
int tarball_pack(const char *archive, const char *top, const char *dir);

/* Opens a file for tarball_read, which decompresses bzip2, gzip, xz and zstd.
 * Returns NULL after reporting the error. */
struct tarball *tarball_plain(const char *file);
/* Reads at most n bytes into 'to'. Returns their number, 0 at the end, or -1
 * after reporting that the archive is cut short or corrupt. */
long tarball_read(struct tarball *, void *to, size_t n);

/*
 * Unpacks an archive into 'dir', which must be new (it is made, with its
 * parents) or empty. Symbolic links are not followed, nothing is overwritten,
 * and links in the top folder are refused because the caller writes files
 * there. Limits are TARBALL_UNPACKED (bytes in all), TARBALL_COUNT (entries,
 * and folders of all their paths) and TARBALL_DEPTH (nested folders). Returns
 * 0, or -1 after reporting an error and removing 'dir'.
 */
int tarball_unpack(const char *archive, const char *dir);

/* Removes 'dir', also if it is a link to the folder. Reports an error. */
void tarball_remove(const char *dir);

#define TARBALL_FILE (64LL << 20)
#define TARBALL_ALL (1LL << 30)
#define TARBALL_COUNT 100000
#define TARBALL_UNPACKED (8LL << 30)
#define TARBALL_DEPTH 64

#endif
