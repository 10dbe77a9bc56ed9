/*
 * Commands with placeholders: compiles texts into pieces, see pieces.h, of
 * which render.c makes requests. COMMANDS in vkb-config(5) has the texts and
 * their placeholders. In a cluster, a random number beside the tag decides the
 * slot, so that the key is found again.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include "cmdsource.h"

struct rowset;
struct template;

/* Only in named tests: a number that in sequence equals the one before. */
#define TEMPLATE_SAME "__rand_same__"

/*
 * Makes the template of what a work sends: a named test, a text or the parts of
 * a mix. In a cluster, further numbers of a named test whose key has a number
 * are in the slot of that key; else the last number, if a command writes one
 * element, decides its collection (see keys.h). Returns NULL and *why, which
 * the caller frees, if the text is not valid.
 */
struct template *template_new(
    const struct engine_target *, const struct engine_work *, char **why);
void template_free(struct template *);

/* Returns the fields that it names, in order; NULL ends the list; borrowed. */
const char *const *template_fields(const struct template *);

/*
 * Call before use if it names fields: sets the rows (borrowed). Renders up to
 * 'most' bytes of each command in advance, for speed.
 */
void template_bind(struct template *, const struct rowset *, size_t most);

/*
 * Return the source of the commands of a work, with its rows, and of those that
 * fill the server for a named test, with up to 'many' elements in each where
 * possible; the first returns NULL after reporting an error.
 */
struct cmdsource *template_open(
    const struct engine_target *, const struct engine_work *);
struct cmdsource *template_open_seed(
    const struct engine_target *, const struct engine_work *, unsigned many);

/* Returns the template as a source of commands; the same object. */
struct cmdsource *template_source(struct template *);

#endif
