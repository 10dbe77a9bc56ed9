/* Checks whether a value of a configuration fits the rule of its key. */
#ifndef CONFIGFIT_H
#define CONFIGFIT_H

#include <stdbool.h>

struct config_key;
struct configwalk;
struct json;

/* Returns true if one value, not a list, fits the rule. Problems within a CPU
 * list are reported here, and the result is true. */
bool configfit_matches(
    struct configwalk *, const struct config_key *, const struct json *);

/* Reports that the value does not fit the rule that the key has in a section.
 */
void configfit_report(struct configwalk *, const char *section,
    const struct config_key *, const struct json *);

/* Returns 1 for true, 0 for false, -1 for neither. */
int configfit_parse_truth(const struct json *);

/* Returns the value as JSON, cut after 60 bytes. The caller frees it. */
char *configfit_format(const struct json *);

/*
 * Returns the text of a mix that is a list of objects, which the caller frees;
 * NULL after reporting what is wrong with it.
 */
char *configfit_read_mix(
    struct configwalk *, const struct config_key *, const struct json *);

#endif
