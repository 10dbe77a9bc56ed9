/*
 * Makes the bytes of the requests of a template: patched where only numbers
 * differ, copied from requests that were rendered in advance where rows or
 * values do, else written piece by piece. Private to template.c.
 */
#ifndef RENDER_H
#define RENDER_H

#include <stddef.h>

struct engine_work;
struct template;

/* Chooses how the commands of a compiled template are made; sets ops.room,
 * ops.make and what of the source depends on it. */
void render_prepare(struct template *, const struct engine_work *);

/* Renders up to 'most' bytes of each command in advance: its rows are set. */
void render_bind(struct template *, size_t most);

void render_free(struct template *); /* what it has made */

#endif
