/* The files of a finished build, and its note, which says what they are. */
#ifndef PARTS_H
#define PARTS_H

struct json;

/*
 * Copies 'from' to NAME in 'dir', and notes it under 'key' (NULL: it is not
 * noted). 0; 1: there is no such file; -1 and said.
 */
int parts_put(const char *dir, const char *name, const char *from,
    struct json *note, const char *key);

/* The note is what makes the folder a build. 0, or -1 and said. */
int parts_write_note(const char *dir, const struct json *note);

/*
 * What the note in 'dir' says, and the paths of the files, into 'rec'. 1; 0:
 * there is no note, or a file is not what it was. It counts as used now.
 */
int parts_find(const char *dir, struct json *rec);

#endif
