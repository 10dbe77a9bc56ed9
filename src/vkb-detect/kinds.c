#include "kinds.h"
#include "branch.h"
#include "counted.h"
#include "mem.h"
#include "metric.h"
#include "reading.h"
#include "rows.h"

#include <math.h>
#include <stdlib.h>

/* Were runs counted at the newest point with values? */
static bool
is_newest_counted(const struct branch *h, const struct rows_run *runs,
    const double *v, const double *counts, size_t n)
{
	size_t newest = 0;
	bool counted = false;

	for (size_t i = 0; i < n; i++) {
		size_t at = runs[i].session;

		if (isnan(v[i]) || at >= h->npoints || at < newest)
			continue;
		counted = (at == newest && counted) || !isnan(counts[i]);
		newest = at;
	}
	return counted;
}

int
kinds_keep_one(const struct branch *h, const struct series *s,
    const struct rows_run *runs, double *v, struct branch_values *to)
{
	const struct rows *r = &s->kase->rows;
	const struct metric m = metric_guess(s->metric);
	double *counts;
	size_t c = rows_find(r, COUNTED_METRIC);
	int rc;

	if (!counted_may_be(&m) || c == r->ncols)
		return 0;
	counts = mem_array(r->n + 1, sizeof *counts);
	rc = rows_values(r, h->reading->scratch, c, counts);
	if (rc == 0) {
		to->counted = is_newest_counted(h, runs, v, counts, r->n);
		to->others = counted_keep(to->counted, v, counts, r->n);
	}
	free(counts);
	return rc;
}
