/* Makes the datasets of a case that are missing or outdated. */
#ifndef MAKEDATA_H
#define MAKEDATA_H

struct json;
struct intern;

/*
 * Runs vkb-gendata for each dataset that is not in 'made' (empty at first), and
 * adds it there. Returns NULL if all files can be read, else why not; caller
 * frees. *stop ends it.
 */
char *makedata_run(
    const struct json *cas, struct intern *made, const volatile int *stop);

#endif
