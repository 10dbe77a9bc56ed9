/* Datasets of a case that are missing, or not what its recipe says. */
#ifndef MAKEDATA_H
#define MAKEDATA_H

struct json;
struct names;

/*
 * Lets vkb-gendata make them, but for those that it has made for a case before:
 * 'made' starts empty and is told. NULL: all are there; else why not, the
 * caller frees it. *stop ends the making.
 */
char *makedata(
    const struct json *cas, struct names *made, const volatile int *stop);

#endif
