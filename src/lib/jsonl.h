/*
 * JSON lines: one object a line, from any number of files. A file whose first
 * character is '[' is one JSON array; its elements are read one by one.
 */
#ifndef JSONL_H
#define JSONL_H

#include <stddef.h>

struct json;
struct jsonl;

/* 'files' is borrowed; "-" is stdin; n = 0 is stdin alone. */
struct jsonl *jsonl_open(const char *const *files, size_t n);
struct jsonl *jsonl_fd(int fd, const char *name); /* fd is taken */
void jsonl_close(struct jsonl *);

/*
 * 1: *rec is the next object (caller frees with json_free). 0: the end.
 * -1: trouble, said with FILE:LINE (a bad or torn line, a file that cannot be
 * read); reading may go on with what follows.
 */
int jsonl_next(struct jsonl *, struct json **rec);

/*
 * The same in two steps: 1: the text of what stands next (borrowed until the
 * next call, a NUL behind it), which may be no JSON; then, where it is asked
 * for, its object: 1 or -1.
 */
int jsonl_text(struct jsonl *, const char **s, size_t *n);
int jsonl_tree(struct jsonl *, struct json **rec);

/*
 * Reports "FILE:LINE: WHY" of the last record and returns -1. Of each file the
 * first 3 bad records are reported, the others counted at its end; a file that
 * looks pretty-printed is told so.
 */
int jsonl_fail(struct jsonl *, const char *why);

/* "FILE:LINE" of the last record (borrowed until the next call). */
const char *jsonl_where(const struct jsonl *);

/* One line in one write. 0, or -1 and said. */
int jsonl_write(int fd, const struct json *rec);
/* A line each, all in one write. 0, or -1 and said. */
int jsonl_write_all(int fd, struct json *const *recs, size_t n);

#endif
