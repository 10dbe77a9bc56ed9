#include "measured.h"
#include "hashset.h"
#include "intern.h"
#include "mem.h"

#include <stdlib.h>

struct pair {
	size_t point, session; /* session 0: without a name */
};

struct measured {
	struct intern *names;
	struct hashset *seen; /* pairs */
	struct pair *v;
	size_t n, cap;
};

struct measured *
measured_new(void)
{
	struct measured *m = mem_new(sizeof *m);

	m->names = intern_new();
	intern_id(m->names, "");
	m->seen = hashset_new();
	return m;
}

void
measured_free(struct measured *m)
{
	if (!m)
		return;
	intern_free(m->names);
	hashset_free(m->seen);
	free(m->v);
	free(m);
}

void
measured_add(struct measured *m, size_t point, const char *session, size_t n)
{
	size_t id = session ? intern_idn(m->names, session, n) : 0;
	/* Different pairs have different numbers, spread over 64 bits. */
	unsigned long long key =
	    ((unsigned long long)point << 32 | id) * 0x9e3779b97f4a7c15;

	if (hashset_add(m->seen, key))
		return;
	m->v = mem_grow(m->v, m->n, &m->cap, sizeof *m->v);
	m->v[m->n++] = (struct pair){point, id};
}

bool
measured_are_apart(const struct measured *m, size_t a, size_t b)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->v[i].point != a && m->v[i].point != b)
			continue;
		if (!m->v[i].session)
			return false;
		for (size_t k = 0; m->v[i].point == a && k < m->n; k++)
			if (m->v[k].point == b &&
			    m->v[k].session == m->v[i].session)
				return false;
	}
	return true;
}
