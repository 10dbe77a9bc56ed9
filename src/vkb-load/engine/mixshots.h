/*
 * The requests of a mix, rendered in advance: possible if its commands differ
 * from request to request only by one random number and by values. Private to
 * mix.c.
 */
#ifndef MIXSHOTS_H
#define MIXSHOTS_H

#include <stddef.h>
#include <stdint.h>

struct cmdsource;
struct cursor;
struct engine_work;
struct keys;
struct mixshots;
struct template;

/*
 * Renders the requests of a template with a mix whose steps are listed. Returns
 * NULL if they have to be made one by one. Free with mixshots_free.
 */
struct mixshots *mixshots_new(struct template *, const struct engine_work *);
void mixshots_free(struct mixshots *);

/* As cmdsource_ops.make. */
uint32_t mixshots_make(const struct cmdsource *, struct cursor *,
    const struct keys *, char *buf, uint32_t n, size_t full, size_t *len);

#endif
