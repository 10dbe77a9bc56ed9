/*
 * The cases of a comparison in Markdown: the sentence, a row for each of the
 * worst ten, the others folded, and how they were measured.
 */
#ifndef MDCASES_H
#define MDCASES_H

struct brief;
struct mdpage;
struct report;

/* Writes the sides, what limits the report, and the answer in a sentence. */
void mdcases_write_head(const struct mdpage *, const struct brief *);

/* Write the rows of the worst cases, and the folded rows of the others. */
void mdcases_write_worst(const struct mdpage *, const struct brief *);
void mdcases_write_others(const struct mdpage *, const struct brief *);

/* Writes how the cases were measured, what would make unclear ones clear, and
 * the command that measures them again. */
void mdcases_write_origin(const struct mdpage *, const struct brief *);

#endif
