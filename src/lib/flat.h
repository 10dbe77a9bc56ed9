/*
 * The flat metrics.json of the Python tool: one object per result. Reading
 * turns each into a run record. What the file does not say stays absent.
 */
#ifndef FLAT_H
#define FLAT_H

#include <stdbool.h>

struct json;

/* An object without "type" that has the keys of such a result. */
bool flat_is(const struct json *obj);

/* 'obj' is taken; the result is a run record, the caller's. Never NULL. */
struct json *flat_to_run(struct json *obj);

#endif
