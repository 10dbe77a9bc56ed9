/*
 * Values that the command line gives to keys of configurations: --set
 * KEY=VALUE. A value is written as in vkb-config(5), without the quotes of
 * JSON; numbers of a list are separated by commas, times may have a unit.
 */
#ifndef ASSIGN_H
#define ASSIGN_H

struct json;
struct opt_list;

/* Adds the value of a key, which an option gives, to an object. 0, or -1, error
 * reported. */
int assign_add(
    struct json *values, const char *option, const char *key, const char *text);

/* Adds the values to an object, checked by the rules of their keys. 0, or -1,
 * error reported. */
int assign_parse(const struct opt_list *, struct json *values);

/*
 * Sets the values in each configuration of a document that is not checked yet;
 * those that scenarios have too, in each scenario. What contradicts a value,
 * such as 'sequential' and 'keys', and values of writers and readers are
 * removed.
 */
void assign_apply(const struct json *values, struct json *doc);

#endif
