/*
 * Finds what makes results noisy, in an env record and in the settings of the
 * machine; tells the cost and the remedy.
 */
#ifndef NOISE_H
#define NOISE_H

#include <stddef.h>

struct json;
struct str;

/*
 * Appends a text that lists the sources of noise found, and those that could
 * not be checked. Returns the number found.
 */
size_t noise_show(struct str *, const struct json *rec, const char *root);

#endif
