/* The state of a check of a JSON document: the current position as a JSON path,
 * and the number of problems reported so far. */
#ifndef CONFIGWALK_H
#define CONFIGWALK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "str.h"

struct configwalk {
	const char *name; /* of the file, for messages; borrowed */
	struct str path;  /* "$[0].clients"; starts as "$" */
	bool lenient;
	int problems;
};

/* Reports "NAME: PATH: ..." on one line and counts it. */
void configwalk_problem(struct configwalk *, const char *fmt, ...)
    ERR_PRINTF(2, 3);

void configwalk_vproblem(struct configwalk *, const char *fmt, va_list)
    __attribute__((format(printf, 2, 0)));

/* Step into a member or element. The result goes to configwalk_leave. */
size_t configwalk_key(struct configwalk *, const char *key);
size_t configwalk_index(struct configwalk *, size_t i);
void configwalk_leave(struct configwalk *, size_t len);

#endif
