/*
 * Commands with placeholders: compiles texts into pieces, see pieces.h, of
 * which render.c makes requests.
 *
 * The text has words as in a shell; in "..." \xHH is a byte. A ";" behind a
 * word or by itself ends a command and another follows; a number before a
 * command is a repeat count. In the words:
 *
 * __rand_int__        a number below keyspacelen, 12 digits, each drawn anew
 * __rand_1st__ ..     a number that is the same for its name in a command:
 * __rand_9th__        1st 2nd 3rd 4th 5th 6th 7th 8th 9th
 * __seq__             0, 1, 2, ... over all clients, 12 digits
 * __data__            a value, see values.h
 * __int:LOW:HIGH__    an integer from LOW to HIGH, each equally often
 * __field:NAME__      a field of the next row of the dataset
 * {key}               key: and a number as __rand_int__, drawn once for all
 *                     commands of the text; in a cluster key:{tag}:, and all
 *                     tags of the text are those of its slot
 * {tag}               in a cluster, the tag of a slot of the server
 *
 * Each command that names fields uses the next row; the first follows the last.
 * In sequence random numbers count up, as in valkey-benchmark. In a
 * cluster, a random number beside the tag decides the slot, so that the key is
 * found again.
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
