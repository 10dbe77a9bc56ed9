/*
 * What the keys of a server take: the memory of all of them, their payload,
 * which is their names and values, and the encodings of a sample.
 */
#ifndef SIZES_H
#define SIZES_H

#include "vkb-load/engine/engine.h"

struct json;
struct target;

/* With more keys the payload is not measured, unless all are alike. */
#define SIZES_KEYS_MOST 1e7

enum sizes_which {
	SIZES_DIFFER,   /* the size of each key is read */
	SIZES_ALIKE,    /* all keys have the size of those in the sample */
	SIZES_OF_OTHERS /* others have keys there, so none is read */
};

struct sizes_how {
	enum sizes_which which;
	const volatile int *stop; /* polled; the payload is then left out */
	engine_progress_fn *progress;
	void *arg;
};

/*
 * Adds stored_bytes_per_key to the metrics of a run with bytes_per_key and, if
 * all keys are small and of known types, payload_bytes_per_key and
 * memory_overhead_ratio. Returns the encodings, as ENCODING: keys of the
 * sample (caller frees), or NULL if nothing was sampled. Failures add nothing.
 */
struct json *sizes_measure(
    const struct target *, const struct sizes_how *, struct json *metrics);

#endif
