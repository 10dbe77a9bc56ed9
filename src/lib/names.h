/*
 * Texts as numbers: each different text gets the next one, from 0.
 */
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>

struct names;

struct names *names_new(void);
void names_free(struct names *);

size_t names_id(struct names *, const char *text);
const char *names_text(const struct names *, size_t id); /* borrowed */

#endif
