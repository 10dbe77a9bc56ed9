/*
 * Files from the network (libcurl): http, https and file. What arrived of a
 * file stays in PATH.part when the transfer breaks off, and the next one goes
 * on there, unless the server has another file by then.
 */
#ifndef DOWNLOAD_H
#define DOWNLOAD_H

#include <stdbool.h>

struct meter;
struct str;

bool download_is_url(const char *);

/*
 * Writes PATH.part; the caller checks and renames it. Refused where the disk
 * has no room for it. 0, or -1 and said.
 */
int download_part(const char *url, const char *path, struct meter *);
/* The part is good: it gets its name. 0, or -1 and said. */
int download_keep(const char *path);
/* The part is bad: it goes. */
void download_drop(const char *path);

/* A small text, of a mebibyte at most. 0; -1: it cannot be had, not said. */
int download_text(const char *url, struct str *);

#endif
