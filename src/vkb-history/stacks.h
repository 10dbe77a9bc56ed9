/* The sampled stacks of a profile, which the archive keeps in its record. */
#ifndef STACKS_H
#define STACKS_H

struct json;
struct str;

/* Adds the most frequent stacks of the file that a profile record names as
 * artifacts.folded to the record, as its member "stacks". The path is not
 * trusted: only regular files whose names end in ".folded" are read. */
void stacks_keep(struct json *rec);

/* Appends the stacks of the record, with its case as the first frame. */
void stacks_add(struct str *, const struct json *rec);

#endif
