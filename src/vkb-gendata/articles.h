/*
 * Reads the articles of a wiki dump (XML of MediaWiki's export), plain or
 * compressed, in order, as the Python tool does: all pages whose text is not
 * empty and does not begin with #REDIRECT.
 */
#ifndef ARTICLES_H
#define ARTICLES_H

struct articles;
struct str;

/* Returns NULL (error reported). */
struct articles *articles_open(const char *file);
void articles_close(struct articles *);

/* Replaces *to by the text of the next article. Returns 1, 0 at the end, or -1
 * (error reported). */
int articles_read_next(struct articles *, struct str *to);

#endif
