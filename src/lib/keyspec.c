#include "keyspec.h"
#include "mem.h"
#include "num.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	double absent, min,
	    max; /* of the number; max 0: the name takes no number */
	const char *why;
} kinds[KEYSPEC_KINDS] = {[KEYSPEC_UNIFORM] = {"uniform", 0, 0, 0, NULL},
    [KEYSPEC_SEQUENTIAL] = {"sequential", 0, 0, 0, NULL},
    [KEYSPEC_ZIPF] = {"zipf", .99, .01, 10,
	"zipf:THETA needs a number from 0.01 to 10"},
    [KEYSPEC_LATEST] = {"latest", .99, .01, 10,
	"latest:THETA needs a number from 0.01 to 10"},
    [KEYSPEC_GAUSSIAN] = {"gaussian", .15, .000001, 10,
	"gaussian:SD needs a number from 0.000001 to 10, a share of the key "
	"space"},
    [KEYSPEC_HOT] = {"hot", 0, 0, 0,
	"hot:Q%:P% needs two percentages, as in hot:20%:80%: Q above 0 and "
	"below 100, P above 0 and at most 100"}};

/* Parses "Q%:P%". Returns 0 or -1. */
static int
parse_hot(const char *text, struct keyspec *k)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	char *first;
	int rc;

	if (!colon)
		return -1;
	first = mem_strn(text, (size_t)(colon - text));
	rc = num_percent(first, &k->shape);
	free(first);
	if (rc < 0 || num_percent(colon + 1, &k->requests) < 0)
		return -1;
	return k->shape > 0 && k->shape < 1 && k->requests > 0 &&
		k->requests <= 1
	    ? 0
	    : -1;
}

const char *
keyspec_parse(const char *text, struct keyspec *k)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text), i;

	for (i = 0; i < KEYSPEC_KINDS; i++)
		if (strlen(kinds[i].name) == n &&
		    memcmp(kinds[i].name, text, n) == 0)
			break;
	if (i == KEYSPEC_KINDS)
		return "use uniform, sequential, zipf:THETA, latest:THETA, "
		       "gaussian:SD or hot:Q%:P%";
	*k = (struct keyspec){
	    .kind = (enum keyspec_kind)i, .shape = kinds[i].absent};
	if (i == KEYSPEC_HOT)
		return parse_hot(colon ? colon + 1 : NULL, k) < 0 ? kinds[i].why
								  : NULL;
	if (!colon)
		return NULL;
	if (kinds[i].max <= 0)
		return "uniform and sequential take no number";
	if (num_real(colon + 1, &k->shape) < 0 || k->shape < kinds[i].min ||
	    k->shape > kinds[i].max)
		return kinds[i].why;
	return NULL;
}

char *
keyspec_format(const struct keyspec *k)
{
	const char *name = kinds[k->kind].name;

	if (k->kind == KEYSPEC_HOT)
		return mem_printf("%s:%.15g%%:%.15g%%", name, 100 * k->shape,
		    100 * k->requests);
	if (kinds[k->kind].max > 0)
		return mem_printf("%s:%.15g", name, k->shape);
	return mem_str(name);
}
