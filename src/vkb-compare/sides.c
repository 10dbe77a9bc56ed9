#include "sides.h"
#include "err.h"
#include "mem.h"
#include "opt.h"
#include "subject.h"

#include <stdlib.h>

int
sides_read(struct sides *s, const struct opt_list *baselines,
    const struct opt_args *args, enum cases_of of)
{
	const char *const *files = (const char *const *)args->v;
	int rc, who;

	*s = (struct sides){.inside = baselines->n > 0,
	    .who = mem_array(baselines->n + 1, sizeof *s->who)};
	if (!s->inside) {
		rc = cases_read(&s->base, files, 1, of) < 0;
		rc |= cases_read(&s->other, files + 1, args->n - 1, of) < 0;
		s->n = 1; /* the first subject, which is the only one */
		return subject_check_only(&s->base, files[0]) < 0 ? -1 : rc;
	}
	rc = cases_read(&s->base, files, args->n, of) < 0;
	for (size_t i = 0; i < baselines->n; i++) {
		size_t k = 0;

		who = subject_find(&s->base, baselines->v[i]);
		if (who < 0)
			return -1;
		while (k < s->n && s->who[k] != (size_t)who)
			k++;
		s->who[k] = (size_t)who;
		s->n += k == s->n;
	}
	return rc;
}

void
sides_free(struct sides *s)
{
	cases_free(&s->base);
	cases_free(&s->other);
	free(s->who);
}

const struct cases *
sides_contenders(const struct sides *s)
{
	return s->inside ? &s->base : &s->other;
}

bool
sides_is_contender(const struct sides *s, size_t who)
{
	for (size_t i = 0; i < s->n && s->inside; i++)
		if (s->who[i] == who)
			return false;
	return true;
}

size_t
sides_count(const struct sides *s)
{
	size_t n = 0;

	for (size_t i = 0; i < sides_contenders(s)->nsubjects; i++)
		n += sides_is_contender(s, i);
	if (!n)
		err_say("there is no contender: the input has no subject "
			"besides the baseline");
	return n;
}
