/* A ring that grows, wherever it begins, keeps its elements in their order. */
#include "tap.h"
#include "vkb-load/engine/run.h"

#include <stdint.h>
#include <stdlib.h>

/* An element of any size, which knows its place. */
struct element {
	uint64_t nth;
	char rest[5];
};

struct ring {
	struct element *v;
	size_t at, n, cap;
	uint64_t added, taken;
};

static void
add_element(struct ring *r)
{
	r->v = run_grow_ring(r->v, &r->at, r->n, &r->cap, sizeof *r->v);
	r->v[(r->at + r->n++) & (r->cap - 1)] =
	    (struct element){r->added++, "abcd"};
}

static bool
take_element(struct ring *r)
{
	struct element e = r->v[r->at];

	r->at = (r->at + 1) & (r->cap - 1);
	r->n--;
	return e.nth == r->taken++ && strcmp(e.rest, "abcd") == 0;
}

/* Lets a full ring begin at 'begin', and grow then. */
static bool
check_ring(size_t begin, size_t full)
{
	struct ring r = {0};
	bool ok = true;

	for (size_t i = 0; i < begin; i++) {
		add_element(&r);
		ok = take_element(&r) && ok;
	}
	while (r.n < full)
		add_element(&r);
	ok = ok && r.n == full && (r.cap & (r.cap - 1)) == 0 && r.cap >= full;
	add_element(&r);
	while (r.n)
		ok = take_element(&r) && ok;
	free(r.v);
	return ok && r.taken == r.added;
}

int
main(void)
{
	struct element *v;
	size_t at = 0, cap = 0;
	bool ok = true;

	for (size_t begin = 0; begin < 40; begin++)
		for (size_t full = 0; full < 70; full++)
			ok = ok && check_ring(begin, full);
	tap_ok(ok, "elements stay in order, wherever a ring begins that grows");
	v = run_grow_ring(NULL, &at, 0, &cap, sizeof *v);
	tap_ok(v && cap && at == 0, "an empty ring gets room");
	at = cap - 1;
	tap_ok(run_grow_ring(v, &at, 1, &cap, sizeof *v) == v && at == cap - 1,
	    "a ring that has room stays as it is");
	free(v);
	return tap_done();
}
