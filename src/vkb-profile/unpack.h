/* Unpacks an archive of vkb-profile --archive; the archive is not trusted. */
#ifndef UNPACK_H
#define UNPACK_H

/* Limits; TARBALL_COUNT limits the number of files, links and folders. */
#define UNPACK_BYTES (8LL << 30) /* of all files, uncompressed */
#define UNPACK_DEPTH 64          /* nested folders */

/*
 * Unpacks the archive into 'dir', which must be new (it is made, with its
 * parents) or empty. Symbolic links are not followed, nothing is overwritten,
 * and links in the top folder are refused because the caller writes files
 * there. Returns 0, or -1 after reporting an error and removing 'dir'.
 */
int unpack_archive(const char *archive, const char *dir);

/* Removes 'dir', also if it is a link to the folder. Reports an error. */
void unpack_remove(const char *dir);

#endif
