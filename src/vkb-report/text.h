/* The report as a few lines for a terminal. */
#ifndef TEXT_H
#define TEXT_H

struct model;
struct str;

/* Control characters are escaped. */
void text_write(struct str *, const struct model *);

#endif
