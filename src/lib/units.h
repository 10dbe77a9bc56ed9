/*
 * Units of other tools as the ends of our keys: ("time", "us") is time_us,
 * ("io", "MB/s") is io_bytes_per_s and a factor of 1e6.
 */
#ifndef UNITS_H
#define UNITS_H

/*
 * The key of a value 'name' (may be "") in 'unit' (may be ""); *factor turns
 * the value into the unit of the key. Anything but letters and digits becomes
 * '_'. A name that ends in the unit gets it once, and one that means a metric
 * of the table is called so. Caller frees.
 */
char *units_key(const char *name, const char *unit, double *factor);

#endif
