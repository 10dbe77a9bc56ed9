#include "sides.h"
#include "err.h"
#include "mem.h"
#include "opt.h"
#include "subject.h"

#include <stdbool.h>
#include <stdlib.h>

static bool
is_among(size_t who, const size_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == who)
			return true;
	return false;
}

static int
find_baselines(struct sides *s, const struct opt_list *baselines)
{
	for (size_t i = 0; i < baselines->n; i++) {
		int who = subject_find(&s->base, baselines->v[i]);

		if (who < 0)
			return -1;
		if (!is_among((size_t)who, s->who, s->n))
			s->who[s->n++] = (size_t)who;
	}
	return 0;
}

int
sides_read(struct sides *s, const struct opt_list *baselines,
    const struct opt_args *args, enum cases_of of)
{
	const char *const *files = (const char *const *)args->v;
	bool inside = baselines->n > 0; /* one input */
	int rc;

	*s = (struct sides){.contenders = inside ? &s->base : &s->other,
	    .who = mem_array(baselines->n + 1, sizeof *s->who)};
	rc = cases_read(&s->base, files, inside ? args->n : 1, of) < 0;
	if (inside) {
		rc = find_baselines(s, baselines) < 0 ? -1 : rc;
	} else {
		rc |= cases_read(&s->other, files + 1, args->n - 1, of) < 0;
		rc = subject_check_only(&s->base, files[0]) < 0 ? -1 : rc;
		s->n = 1; /* the only subject */
	}
	if (rc < 0)
		return -1;
	s->whom = mem_array(s->contenders->nsubjects + 1, sizeof *s->whom);
	for (size_t i = 0; i < s->contenders->nsubjects; i++)
		if (!inside || !is_among(i, s->who, s->n))
			s->whom[s->m++] = i;
	return s->m ? rc
		    : err_fail("there is no contender: the input has no "
			       "subject besides the baseline");
}

void
sides_free(struct sides *s)
{
	cases_free(&s->base);
	cases_free(&s->other);
	free(s->who);
	free(s->whom);
}
