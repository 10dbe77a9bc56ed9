/*
 * A file that is one JSON text, as people write them: over many lines.
 */
#ifndef JSONFILE_H
#define JSONFILE_H

struct json;
struct str;

/* All of it; "-" is stdin. 0, or -1 and said. Never leaves s->s NULL. */
int jsonfile_text(const char *file, struct str *s);

/* NULL, and said as "NAME:LINE:COLUMN: not JSON: ...". */
struct json *jsonfile_parse(const struct str *text, const char *name);

/* Both; caller frees with json_free. */
struct json *jsonfile_read(const char *file);

/* One record, as a line; the file appears whole (tempfile.h). 0 or -1, said. */
int jsonfile_write(const char *file, const struct json *);

#endif
