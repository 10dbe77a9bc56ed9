/* The report in a few lines for a terminal. */
#ifndef TEXT_H
#define TEXT_H

struct model;
struct str;

/* Nothing in it drives a terminal. */
void text_write(struct str *, const struct model *);

#endif
