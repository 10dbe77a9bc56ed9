/* The query files of query_generation, by type. */
#ifndef QUERY_H
#define QUERY_H

struct configwalk;
struct recipe_file;

/*
 * Fills the file of 'f->spec'; problems are said and counted in 'w'. 1: the
 * second file, which has the terms without the vectors, is wanted in *also.
 */
int query_read(
    struct recipe_file *f, struct recipe_file *also, struct configwalk *w);

#endif
