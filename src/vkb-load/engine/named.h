/* The named tests as sources of commands; named_open is in cmdsource.h. */
#ifndef NAMED_H
#define NAMED_H

struct engine_target;
struct engine_work;
struct cmdsource;

/*
 * Returns the source of the commands that fill the server for a named test,
 * with up to 'many' elements in each where possible.
 */
struct cmdsource *named_seed(
    const struct engine_target *, const struct engine_work *, unsigned many);

#endif
