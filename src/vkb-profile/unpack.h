/* Unpacks an archive that vkb-profile --archive wrote, or somebody forged. */
#ifndef UNPACK_H
#define UNPACK_H

/* The limits of what an archive holds; files, links and folders are limited by
 * TARBALL_COUNT. */
#define UNPACK_BYTES (8LL << 30) /* of all files, uncompressed */
#define UNPACK_DEPTH 64          /* folders that a file is in */

/*
 * Unpacks the archive into 'dir', which must be new (it is made, with the
 * folders above it) or empty. No part of a path is followed if it is a symbolic
 * link, nothing is overwritten, and links in the top folder are refused: the
 * caller writes files there. Returns 0, or -1 after reporting why and removing
 * 'dir'.
 */
int unpack_archive(const char *archive, const char *dir);

/*
 * Removes what was unpacked into 'dir', also where 'dir' is a link to the
 * folder. Reports an error.
 */
void unpack_remove(const char *dir);

#endif
