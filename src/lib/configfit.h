/* Does a value of a configuration fit the rule of its key? */
#ifndef CONFIGFIT_H
#define CONFIGFIT_H

#include <stdbool.h>

struct config_key;
struct configwalk;
struct json;

/*
 * One value, not a list of them. What is wrong in a CPU list is said, and the
 * answer is true.
 */
bool configfit_is(
    struct configwalk *, const struct config_key *, const struct json *);

/* Says that it does not. */
void configfit_unfit(
    struct configwalk *, const struct config_key *, const struct json *);

/* 1 yes, 0 no, -1 neither. */
int configfit_truth(const struct json *);

/* As it stands in the file, but not without end. Caller frees. */
char *configfit_shown(const struct json *);

#endif
