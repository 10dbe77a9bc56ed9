/* Reads the recipes of query_generation. */
#ifndef QUERY_H
#define QUERY_H

struct configwalk;
struct recipe_file;

/*
 * Fills *f from f->spec. Problems are reported and counted in 'w'. Returns 1 if
 * it also filled *also, a second file with the terms alone, else 0.
 */
int query_read(
    struct recipe_file *f, struct recipe_file *also, struct configwalk *w);

#endif
