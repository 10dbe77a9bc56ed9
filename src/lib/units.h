/*
 * Converts names and units of other tools to keys: ("time", "us") is time_us,
 * ("io", "MB/s") is io_bytes_per_s with a factor of 1e6.
 */
#ifndef UNITS_H
#define UNITS_H

/*
 * Returns the key of a value 'name' (may be "") in 'unit' (may be ""). Multiply
 * the value by *factor. Anything but letters and digits becomes '_'. A unit
 * that 'name' already ends in is not repeated; a synonym of a metric in the
 * table becomes that metric. Caller frees.
 */
char *units_key(const char *name, const char *unit, double *factor);

#endif
