/* Datasets of a case that are missing, or not what its recipe says. */
#ifndef MAKEDATA_H
#define MAKEDATA_H

struct json;

/*
 * Lets vkb-gendata make them. NULL: all are there; else why not, the caller
 * frees it. *stop ends the making.
 */
char *makedata(const struct json *cas, const volatile int *stop);

#endif
