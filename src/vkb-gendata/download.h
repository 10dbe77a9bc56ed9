/*
 * Downloads files with libcurl: http, https and file URLs. If a transfer breaks
 * off, PATH.part keeps the bytes that arrived, and the next transfer resumes
 * there unless the server's file has changed or the URL is a file's.
 */
#ifndef DOWNLOAD_H
#define DOWNLOAD_H

#include <stdbool.h>

struct meter;
struct str;

bool download_is_url(const char *);

/*
 * Writes PATH.part; the caller checks it and calls download_end. Returns 0, or
 * -1 (error reported), also if the disk is full.
 */
int download_part(const char *url, const char *path, struct meter *);
/* Renames PATH.part to PATH if it is to be kept, or removes it. Returns 0, or
 * -1 (error reported). */
int download_end(const char *path, bool keep);

/* Appends a text of at most 1 MiB. Returns 0, or -1 without a message. */
int download_text(const char *url, struct str *);

#endif
