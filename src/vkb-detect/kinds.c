#include "kinds.h"
#include "branch.h"
#include "column.h"
#include "counted.h"
#include "rows.h"

#include <math.h>

/* Were runs counted at the newest point with values? */
static bool
is_newest_counted(const struct column_part *c, size_t npoints)
{
	size_t newest = 0;
	bool counted = false;

	for (size_t i = 0; i < c->n; i++) {
		size_t at = c->runs[i].session;

		if (isnan(c->values[i]) || at >= npoints || at < newest)
			continue;
		counted = (at == newest && counted) || !isnan(c->counts[i]);
		newest = at;
	}
	return counted;
}

void
kinds_keep_one(const struct column_part *c, size_t npoints, double *v,
    struct branch_values *to)
{
	if (!c->counts)
		return;
	to->counted = is_newest_counted(c, npoints);
	to->others = counted_keep(to->counted, v, c->counts, c->n);
}
