/*
 * Finds the exact k nearest neighbours of each query vector among the base
 * vectors, and writes them as .ivecs: for each query k and k row numbers (from
 * 0), nearest first, ties by number. Base vectors are generated again, not
 * read, so memory holds the queries and 2k rows of each for every thread.
 */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

struct sidecar_content;
struct produce;
struct recipe_file;

/*
 * Writes p->file, the neighbours of the vectors of 'queries' in 'base', with
 * sidecar_append. The meter shows the rows and bytes of 'base' searched.
 * Returns 0, or -1 (error reported).
 */
int neighbours_write_file(const struct produce *p,
    const struct recipe_file *base, const struct recipe_file *queries,
    struct sidecar_content *);

#endif
