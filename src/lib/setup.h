/*
 * What may change a result besides the commit: the server of a module, and the
 * settings of a host.
 */
#ifndef SETUP_H
#define SETUP_H

#include <stddef.h>

struct branch;
struct branch_series;
struct branch_values;
struct json;

/* Return the server of a commit of a module, and the settings of an
 * environment, as texts that differ if these do; "" if they are not known.
 * Caller frees. */
char *setup_server(const struct json *subject);
char *setup_settings(const struct json *env);

/*
 * Returns "the server changed from 8.0.1 to 9.0.0" if a point of lo..hi with
 * values was measured with another server, or on a named host with other
 * settings, than one of the last 'before' points with values before lo. Caller
 * frees; NULL if none was.
 */
char *setup_find_change(const struct branch *, const struct branch_values *,
    size_t machine, size_t before, size_t lo, size_t hi);

/*
 * Returns "other processes used 0% of the CPU before and 88% since" if they did
 * so differently before point lo and from hi on, in the median of up to ten of
 * n[0] and n[1] points with values, that this alone may have changed ln(value)
 * by 'ln': two standard deviations of 'weight' (metric_foreign_weight) of what
 * they left. 'way': with more of them the value rises, 1, or falls, -1; 0:
 * either. Caller frees; NULL: no, or it is not known.
 */
char *setup_find_neighbours(const struct branch *, const struct branch_series *,
    size_t lo, size_t hi, const size_t n[2], double weight, int way, double ln);

#endif
