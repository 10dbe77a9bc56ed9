/* Files of one JSON text over any number of lines. */
#ifndef JSONFILE_H
#define JSONFILE_H

struct json;
struct str;

/* Reads a file ("-": stdin); s->s is never NULL. 0, or -1 and reported. */
int jsonfile_text(const char *file, struct str *s);

/* Returns NULL on error, after reporting "NAME:LINE:COLUMN: not JSON: ...". */
struct json *jsonfile_parse(const struct str *text, const char *name);

/* Reads and parses a file; the caller frees the result with json_free. */
struct json *jsonfile_read(const char *file);

/* Writes a line; the file appears whole (tempfile.h). 0 or -1, reported. */
int jsonfile_write(const char *file, const struct json *);

#endif
