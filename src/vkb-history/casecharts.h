/* The charts of all cases on the index, those that became worse first. */
#ifndef CASECHARTS_H
#define CASECHARTS_H

struct index;
struct str;

/* Writes nothing if no case was measured. */
void casecharts_write(struct str *, const struct index *);

#endif
