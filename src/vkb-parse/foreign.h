/*
 * Recognizes what other tools print that vkb-parse does not read, and says
 * which of their options, or which filter, makes of it what is read.
 */
#ifndef FOREIGN_H
#define FOREIGN_H

/* Returns what a user is to do, or NULL if the text is not known. 'head' is the
 * beginning of an input; colours in it do not matter. Caller frees. */
char *foreign_advise(const char *head);

#endif
