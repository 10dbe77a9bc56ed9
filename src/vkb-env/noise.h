/*
 * What makes results noisy, found in an env record or in the settings of the
 * machine: what it may cost, and how to mend it.
 */
#ifndef NOISE_H
#define NOISE_H

#include <stddef.h>

struct json;
struct str;

/*
 * A text for people of all that is noisy, and of what could not be looked at.
 * How many sources were found.
 */
size_t noise_show(struct str *, const struct json *rec, const char *root);

#endif
