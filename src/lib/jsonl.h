/*
 * JSON lines: one object a line, from any number of files. A file whose first
 * character is '[' is one JSON array; its elements are read one by one. If the
 * first line is only '{', each object takes several lines, as jq prints it.
 */
#ifndef JSONL_H
#define JSONL_H

#include <stddef.h>

struct json;
struct jsonl;

/* 'files' is borrowed; "-" is stdin; n = 0 means stdin only. */
struct jsonl *jsonl_open(const char *const *files, size_t n);
struct jsonl *jsonl_fd(int fd, const char *name); /* fd is taken */
void jsonl_close(struct jsonl *);

/*
 * Returns 1 with the next object in *rec (caller frees with json_free), 0 at
 * the end, or -1 after reporting FILE:LINE of a bad or torn line, or a file
 * that cannot be read. The caller may go on reading after -1. What is wrong
 * with the first line is reported with the first record, or at the end: a file
 * without records has one line, that it is of another kind.
 */
int jsonl_next(struct jsonl *, struct json **rec);

/*
 * The same in two steps. jsonl_text gives the text of the next record, which
 * may be invalid JSON (borrowed until the next call, with a NUL behind it).
 * jsonl_tree then parses it; returns 1 or -1.
 */
int jsonl_text(struct jsonl *, const char **s, size_t *n);
int jsonl_tree(struct jsonl *, struct json **rec);

/*
 * Reports "FILE:LINE: WHY" of the last record and returns -1. The first 3 bad
 * records of each file are reported, the number of others at its end.
 */
int jsonl_fail(struct jsonl *, const char *why);

/* At the end: returns 0, or -1 after reporting that no file had a record. */
int jsonl_check_some(const struct jsonl *);

/* Returns "FILE:LINE" of the last record (borrowed until the next call). */
const char *jsonl_where(const struct jsonl *);

/* Writes a line in one write. Returns 0, or -1 after reporting an error. */
int jsonl_write(int fd, const struct json *rec);

#endif
