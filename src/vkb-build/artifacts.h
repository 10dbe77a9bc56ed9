/* The files of a finished build, and the note (build.json) that lists them. */
#ifndef ARTIFACTS_H
#define ARTIFACTS_H

struct json;

/*
 * Copies 'from' to NAME in 'dir' and lists it under 'key' (NULL: unlisted).
 * Returns 0, 1 if 'from' does not exist, or -1 after reporting an error.
 */
int artifacts_put(const char *dir, const char *name, const char *from,
    struct json *note, const char *key);

/* Writes the note, which a build must have. Returns 0; -1: error reported. */
int artifacts_write_note(const char *dir, const struct json *note);

/*
 * Copies the note in 'dir' and the paths of the files to 'rec', and marks the
 * build as used. Returns 1, or 0 if there is no note or a file has changed.
 */
int artifacts_find(const char *dir, struct json *rec);

#endif
