/*
 * The plain format of a configuration, 'commands' or a 'mix' times sizes times
 * ...: what it needs, and the defaults of what it leaves out. Private to
 * config.c.
 */
#ifndef CONFIGPLAIN_H
#define CONFIGPLAIN_H

#include <stdbool.h>

struct configwalk;
struct json;

/* Has a configuration the plain format? */
bool configplain_is(const struct json *cfg);

void configplain_check(struct configwalk *, const struct json *cfg);

/*
 * Sets the lists that are left out: those of valkey-benchmark, but with a
 * million keys, as in scenarios; valkey-benchmark has one without -r.
 */
void configplain_complete(struct json *cfg);

#endif
