/*
 * What the keys of a server take: the memory of all of them, the payload of a
 * sample, which is its names and values, and the encodings of the sample.
 */
#ifndef SIZES_H
#define SIZES_H

struct json;
struct target;

/*
 * Adds stored_bytes_per_key to the metrics of a run with bytes_per_key and, if
 * all keys of the sample are small and of known types, payload_bytes_per_key
 * and memory_overhead_ratio. Returns the encodings, as ENCODING: keys of the
 * sample (caller frees), or NULL if nothing was sampled. Failures add nothing.
 */
struct json *sizes_measure(const struct target *, struct json *metrics);

#endif
