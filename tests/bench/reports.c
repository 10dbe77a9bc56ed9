/*
 * reports: how often reports of vkb-detect without a change have one, and how
 * often they have one that counts (exit status 1), simulated through its code,
 * by the number of series and commits, their autocorrelation, and with newest
 * commits that are noisier; and how often a step is found. Tests nothing.
 * reports [REPORTS [SERIES]]: of each kind, the default is 400; of up to so
 * many series, the default is 60.
 */
#include "../unit/readbranch.h"
#include "rng.h"
#include "vkb-detect/finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static size_t reports = 400, most = 60;

/* One kind of history; noise is the standard deviation of ln(value). */
struct kind {
	double ar, noise;
	size_t commits;
	size_t loud;  /* the newest so many commits are 6 times noisier */
	size_t after; /* commits after a step of series 0; 0: no step */
	double step;  /* in ln(value) */
};

static double
draw_normal(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

static void
add_run(struct str *s, size_t commit, size_t series, double rps)
{
	str_printf(s,
	    "{\"type\":\"run\",\"v\":1,\"subject\":{\"commit\":\"c%04zu000\"},"
	    "\"config\":{\"command\":\"C%zu\"},\"run\":{\"session\":\"s%zu\","
	    "\"index\":1},\"env\":{},\"metrics\":{\"rps\":%.9g},\"status\":"
	    "\"ok\"}\n",
	    commit, series, commit, rps);
}

static void
make_history(struct str *s, const struct kind *k, size_t series, struct rng *r)
{
	double *e = calloc(series, sizeof *e);
	double a = sqrt(1 - k->ar * k->ar);

	for (size_t i = 0; e && i < series; i++)
		e[i] = draw_normal(r);
	for (size_t c = 0; e && c < k->commits; c++) {
		double by = c + k->loud < k->commits ? 1 : 6;

		for (size_t i = 0; i < series; i++) {
			bool has = i == 0 && c + k->after >= k->commits;

			e[i] = c ? k->ar * e[i] + a * draw_normal(r) : e[i];
			add_run(s, c, i,
			    1e5 * exp(k->noise * by * e[i] + has * k->step));
		}
	}
	free(e);
}

struct result {
	size_t any, counts, hit;
};

static void
judge_history(const struct str *s, const struct kind *k, struct result *to)
{
	const struct finding_rules rules = {0};
	bool any = false, counts = false, hit = false;
	struct branch b;
	struct findings all;

	if (read_branch(&b, s) != 0)
		exit(2);
	finding_find_all(&all, &b, &rules);
	for (size_t i = 0; i < all.n; i++) {
		const struct finding *f = &all.v[i];
		size_t at = k->commits - k->after;

		if (f->kind == FINDING_SPIKE)
			continue;
		if (k->after && f->series == &b.series[0] && f->lo <= at + 2 &&
		    f->hi + 2 >= at) {
			hit = true;
			continue;
		}
		any = true;
		counts |= finding_is_counted(f);
	}
	to->any += any;
	to->counts += counts;
	to->hit += hit;
	finding_free(&all);
	branch_free(&b);
}

static void
print_kind(const char *what, const struct kind *k)
{
	static const size_t series[] = {1, 20, 60, 200};

	printf("%-44s", what);
	for (size_t i = 0; i < 4 && series[i] <= most; i++) {
		struct result sum = {0};
		struct rng r;

		rng_seed(&r, 8, series[i]);
		for (size_t j = 0; j < reports; j++) {
			struct str s = {0};

			make_history(&s, k, series[i], &r);
			judge_history(&s, k, &sum);
			str_free(&s);
		}
		if (k->after)
			printf(" %8.1f%%       ",
			    100 * (double)sum.hit / (double)reports);
		else
			printf(" %6.1f%% %6.1f%%",
			    100 * (double)sum.any / (double)reports,
			    100 * (double)sum.counts / (double)reports);
		fflush(stdout);
	}
	printf("\n");
}

static void
print_noise(void)
{
	for (size_t n = 30; n <= 60; n += 30)
		for (size_t i = 0; i < 4; i++) {
			struct kind k = {.ar = i % 2 ? .3 : 0,
			    .noise = .1,
			    .commits = n,
			    .loud = i < 2 ? 0 : 5};
			char what[80];

			snprintf(what, sizeof what, "%zu commits, AR %g%s", n,
			    k.ar,
			    k.loud ? ", newest 5 at 6 times the noise" : "");
			print_kind(what, &k);
		}
}

static void
print_steps(void)
{
	static const size_t after[] = {3, 4, 5, 7, 10, 20};
	static const double noises[] = {.01, .02, .03};

	for (size_t i = 0; i < 36; i++) {
		struct kind k = {.ar = i < 18 ? 0 : .3,
		    .noise = noises[i / 6 % 3],
		    .commits = 60,
		    .after = after[i % 6],
		    .step = log(.95)};
		char what[80];

		snprintf(what, sizeof what,
		    "-5 %%, noise %g %%, AR %g, %zu after", 100 * k.noise, k.ar,
		    k.after);
		print_kind(what, &k);
	}
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		reports = (size_t)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		most = (size_t)strtoul(argv[2], NULL, 10);
	printf("%zu reports of 1, 20, 60 ... series: with a change, and exit "
	       "status 1; or with the step\n",
	    reports);
	print_noise();
	print_steps();
	return 0;
}
