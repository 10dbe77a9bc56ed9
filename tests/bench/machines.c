/*
 * machines: what several machines in one history do to the reports of
 * vkb-detect, simulated through its code: the share of reports of noise with a
 * change, which must not grow with the machines; and the share in which a step
 * is found that all machines have, or only one. The machines measure all
 * commits each, or share them. Tests nothing. machines [REPORTS [KINDS]]: of
 * each kind, the default is 400; the first so many kinds.
 */
#include "../unit/readbranch.h"
#include "rng.h"
#include "vkb-detect/finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CASES = 4, COMMITS = 60, STEP = 40 };
#define NOISE .1 /* so large that the margin of 2 % hides nothing */

static size_t reports = 400;

struct kind {
	const char *what;
	double ar;   /* lag-1 autocorrelation */
	double step; /* standard deviations, from commit STEP on, of case 0 */
	bool one;    /* only the first machine has the step */
	bool shared; /* each commit is measured by one machine */
};

static double
draw_normal(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

static void
add_run(struct str *s, size_t commit, size_t machine, size_t kase, double rps)
{
	str_printf(s,
	    "{\"type\":\"run\",\"v\":1,\"subject\":{\"commit\":\"c%04zu000\"},"
	    "\"config\":{\"command\":\"C%zu\"},\"run\":{\"session\":\"s%zu-%zu"
	    "\",\"index\":1},\"env\":{\"host\":\"m%zu\"},\"metrics\":{\"rps\":"
	    "%.9g},\"status\":\"ok\"}\n",
	    commit, kase, commit, machine, machine, rps);
}

/* A machine measures COMMITS commits, or its share of so many more. */
static void
make_history(
    struct str *s, const struct kind *k, size_t machines, struct rng *r)
{
	size_t commits = k->shared ? COMMITS * machines : COMMITS;
	size_t step = k->shared ? STEP * machines : STEP;
	double *e = calloc(machines * CASES, sizeof *e);

	for (size_t i = 0; e && i < machines * CASES; i++)
		e[i] = draw_normal(r);
	for (size_t c = 0; e && c < commits; c++)
		for (size_t m = 0; m < machines; m++) {
			if (k->shared && c % machines != m)
				continue;
			for (size_t i = 0; i < CASES; i++) {
				double *x = &e[m * CASES + i];
				bool has =
				    c >= step && i == 0 && (m == 0 || !k->one);

				*x = k->ar * *x +
				    sqrt(1 - k->ar * k->ar) * draw_normal(r);
				add_run(s, c, m, i,
				    1e5 * (double)(m + 1) *
					exp(NOISE * (*x - has * k->step)));
			}
		}
	free(e);
}

/* Returns whether the report has a change that is not at the step, and whether
 * it has the step. */
static void
judge_history(const struct str *s, size_t step, bool *wrong, bool *hit)
{
	const struct finding_rules rules = {0};
	struct branch b;
	struct findings all;

	*wrong = *hit = false;
	if (read_branch(&b, s) != 0)
		exit(2);
	finding_find_all(&all, &b, &rules);
	for (size_t i = 0; i < all.n; i++) {
		const struct finding *f = &all.v[i];
		bool there = step && f->lo <= step + 2 && f->hi + 2 >= step;

		if (f->kind == FINDING_SPIKE)
			continue;
		*hit |= there;
		*wrong |= !there;
	}
	finding_free(&all);
	branch_free(&b);
}

static void
print_kind(const struct kind *k)
{
	static const size_t machines[] = {1, 2, 3, 5, 8};

	printf("%-38s", k->what);
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		size_t m = machines[i], wrong = 0, hits = 0;
		struct rng r;

		rng_seed(&r, 7, m);
		for (size_t j = 0; j < reports; j++) {
			struct str s = {0};
			bool bad, hit;

			make_history(&s, k, m, &r);
			judge_history(&s,
			    k->step > 0 ? STEP * (k->shared ? m : 1) : 0, &bad,
			    &hit);
			wrong += bad;
			hits += hit;
			str_free(&s);
		}
		printf(" %6.1f%%",
		    100 * (double)(k->step > 0 ? hits : wrong) /
			(double)reports);
		fflush(stdout);
	}
	printf("\n");
}

int
main(int argc, char **argv)
{
	static const struct kind kinds[] = {
	    {"noise, all commits", 0, 0, false, false},
	    {"noise, shared commits", 0, 0, false, true},
	    {"noise of AR .3, all commits", .3, 0, false, false},
	    {"noise of AR .6, all commits", .6, 0, false, false},
	    {"2 sd on all machines", 0, 2, false, false},
	    {"1.5 sd on all machines", 0, 1.5, false, false},
	    {"2 sd on one machine", 0, 2, true, false},
	    {"3 sd on one machine", 0, 3, true, false},
	    {"3 sd on all, shared commits", 0, 3, false, true}};

	size_t n = sizeof kinds / sizeof *kinds;

	if (argc > 1)
		reports = (size_t)strtoul(argv[1], NULL, 10);
	if (argc > 2 && strtoul(argv[2], NULL, 10) < n)
		n = (size_t)strtoul(argv[2], NULL, 10);
	printf("%zu reports of %d cases, %d commits for each machine: a false "
	       "change, or the step found\n%-38s",
	    reports, CASES, COMMITS, "machines");
	for (size_t i = 0; i < 5; i++)
		printf(" %7d", (int[]){1, 2, 3, 5, 8}[i]);
	printf("\n");
	for (size_t i = 0; i < n; i++)
		print_kind(&kinds[i]);
	return 0;
}
