/*
 * Text of others, made harmless where it is shown. It is first made visible as
 * by str_visible: what is added has no line breaks, no control characters and
 * nothing that turns the direction of writing, and is UTF-8.
 */
#ifndef MARKUP_H
#define MARKUP_H

#include <stddef.h>

struct str;

/*
 * Markdown as GitHub and GitLab read it, in a paragraph, list or table cell:
 * no character means anything, nothing becomes HTML, a link, a mention, a
 * reference, an emoji or a formula. More than MARKUP_LONGEST bytes are cut.
 */
enum { MARKUP_LONGEST = 240 };
void markup_markdown(struct str *, const char *);
void markup_markdown_whole(struct str *, const char *); /* never cut */

/* Up to 'most' bytes, cut between characters and with "..." where cut. */
void markup_cut(struct str *, const char *, size_t most);

/* XML 1.0 and HTML: between tags and in attributes. */
void markup_xml(struct str *, const char *);

/*
 * One cell of CSV (RFC 4180), in quotes where it needs them. A text that a
 * spreadsheet would run as a formula gets a ' in front; numbers are not passed
 * through here.
 */
void markup_csv(struct str *, const char *);

/* The value of an OpenMetrics label, without its quotes. A backslash of the
 * text is two in the value: other texts, other values. */
void markup_label(struct str *, const char *);

/* GitHub's workflow commands: "::error PROPERTY=...::MESSAGE". */
void markup_message(struct str *, const char *);
void markup_property(struct str *, const char *);

/* The text of a SARIF message: no placeholder, no link (2.1.0, 3.11). */
void markup_sarif(struct str *, const char *);

#endif
