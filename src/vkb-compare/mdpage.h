/*
 * A part of a comment, and the room that it has. Names may be of any length, so
 * each part of the report ends at a share of the room; what does not fit is
 * left out and counted.
 */
#ifndef MDPAGE_H
#define MDPAGE_H

#include <stdbool.h>
#include <stddef.h>

struct str;

struct mdpage {
	struct str *s;
	size_t start, room; /* bytes */
};

/* Is the text so far within 'percent' of the room? */
bool mdpage_has_room(const struct mdpage *, size_t percent);

/* Cuts the text to the length that it had before. */
void mdpage_truncate(const struct mdpage *, size_t before);

/* Writes "3 more rows left out: too long for one comment.", unless n is 0. */
void mdpage_left_out(const struct mdpage *, size_t n, const char *what);

/* Writes a name, cut and escaped. */
void mdpage_name(const struct mdpage *, const char *);

/* Begin and end what is folded; the summary is trusted. */
void mdpage_open(const struct mdpage *, const char *summary);
void mdpage_close(const struct mdpage *);

/* Writes a paragraph, with a trusted text before it, if it fits. */
void mdpage_paragraph(const struct mdpage *, const char *before,
    const char *text, size_t percent);

#endif
