#include "mem.h"
#include "rng.h"
#include "schedule.h"
#include "vkb-load/plan/builds.h"

#include <stdlib.h>
#include <string.h>

enum order_how
schedule_parse_order(const char *s)
{
	static const char *const names[] = {[ORDER_INTERLEAVED] = "interleaved",
	    [ORDER_SLICES] = "slices",
	    [ORDER_RANDOM] = "random"};

	for (int i = 0; s && i < ORDER_SEQUENTIAL; i++)
		if (strcmp(s, names[i]) == 0)
			return (enum order_how)i;
	return s ? ORDER_SEQUENTIAL : ORDER_SLICES;
}

/* At random places the runs of one index are pairs like any others. */
static void
make_sequential(
    struct turn *s, const struct schedule *a, size_t first, size_t last)
{
	bool pairs = a->order == ORDER_RANDOM && a->builds->n > 1;

	for (size_t b = 0; b < a->builds->n; b++)
		for (size_t c = 0; c < a->scenes.n; c++)
			for (size_t i = first; i <= last; i++)
				*s++ = (struct turn){.scene = c,
				    .build = b,
				    .index = i,
				    .block = pairs ? i : 0};
}

/*
 * Each round has all scenes, so that a session that is killed has measured each
 * of them, and a slow drift of the machine affects all equally. It is a block
 * with one build, too: what all cases of a round share was the machine.
 */
static void
make_interleaved(
    struct turn *s, const struct schedule *a, size_t first, size_t last)
{
	size_t n = a->builds->n;
	size_t *build = mem_array(n + 1, sizeof *build);

	for (size_t i = first; i <= last; i++)
		for (size_t c = 0; c < a->scenes.n; c++, s += n) {
			rng_order(build, n, a->seed,
			    (i - 1) / n * a->scenes.n + c, i - 1);
			for (size_t b = 0; b < n; b++)
				s[b] = (struct turn){.scene = c,
				    .build = build[b],
				    .index = i,
				    .block = i};
		}
	free(build);
}

bool
schedule_has_rounds(const struct schedule *a)
{
	return a->order == ORDER_INTERLEAVED || a->order == ORDER_SLICES;
}

struct turn *
schedule_make_order(
    const struct schedule *a, size_t first, size_t last, size_t *n)
{
	struct turn *s;
	struct rng r;

	*n = a->scenes.n * a->builds->n * (last - first + 1);
	s = mem_array(*n + 1, sizeof *s);
	if (schedule_has_rounds(a))
		make_interleaved(s, a, first, last);
	else
		make_sequential(s, a, first, last);
	if (a->order == ORDER_RANDOM) {
		rng_seed(&r, a->seed, first - 1);
		rng_shuffle(&r, s, *n, sizeof *s);
	}
	return s;
}
