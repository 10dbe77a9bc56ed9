/*
 * reports: how often reports of vkb-detect without a change have one, and how
 * often they have one that counts (exit status 1), simulated through its code,
 * by the number of series and commits, their autocorrelation, and with newest
 * commits that are noisier; and how often a step is found. Then the same with
 * several machines in one history, which must not make false changes more
 * frequent: they measure all commits each, or share them. Tests nothing.
 * reports [REPORTS [SERIES]]: of each kind, the default is 400; of up to so
 * many series, the default is 60.
 */
#include "../unit/readbranch.h"
#include "../unit/normal.h"
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
	size_t loud;     /* the newest so many commits are 6 times noisier */
	size_t after;    /* commits after a step of series 0; 0: no step */
	double step;     /* in ln(value) */
	size_t machines; /* 0: one without a name */
	bool one;        /* only the first machine has the step */
	bool shared;     /* each commit is measured by one machine */
};

static void
add_run(struct str *s, size_t commit, size_t series, size_t machine, bool named,
    double rps)
{
	str_printf(s,
	    "{\"type\":\"run\",\"v\":1,\"subject\":{\"commit\":\"c%04zu000\"},"
	    "\"config\":{\"command\":\"C%zu\"},\"run\":{\"session\":\"s%zu-%zu"
	    "\",\"index\":1},\"env\":{",
	    commit, series, commit, machine);
	if (named)
		str_printf(s, "\"host\":\"m%zu\"", machine);
	str_printf(s, "},\"metrics\":{\"rps\":%.9g},\"status\":\"ok\"}\n", rps);
}

static void
make_history(struct str *s, const struct kind *k, size_t series, struct rng *r)
{
	size_t machines = k->machines ? k->machines : 1;
	double *e = calloc(machines * series, sizeof *e);
	double a = sqrt(1 - k->ar * k->ar);

	for (size_t i = 0; e && i < machines * series; i++)
		e[i] = normal_draw(r);
	for (size_t c = 0; e && c < k->commits; c++)
		for (size_t i = 0; i < machines * series; i++) {
			size_t m = i / series, of = i % series;
			double by = c + k->loud < k->commits ? 1 : 6;
			bool has = of == 0 && (m == 0 || !k->one) &&
			    c + k->after >= k->commits;

			if (k->shared && c % machines != m)
				continue;
			e[i] = c ? k->ar * e[i] + a * normal_draw(r) : e[i];
			add_run(s, c, of, m, k->machines > 0,
			    1e5 * (double)(m + 1) *
				exp(k->noise * by * e[i] + has * k->step));
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
		if (k->after && f->lo <= at + 2 && f->hi + 2 >= at &&
		    (k->machines || f->series == &b.series[0])) {
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

static struct result
simulate(const struct kind *k, size_t series, uint64_t seed, uint64_t stream)
{
	struct result sum = {0};
	struct rng r;

	rng_seed(&r, seed, stream);
	for (size_t j = 0; j < reports; j++) {
		struct str s = {0};

		make_history(&s, k, series, &r);
		judge_history(&s, k, &sum);
		str_free(&s);
	}
	return sum;
}

static double
percent(size_t n)
{
	return 100 * (double)n / (double)reports;
}

static void
print_kind(const char *what, const struct kind *k)
{
	static const size_t series[] = {1, 20, 60, 200};

	printf("%-44s", what);
	for (size_t i = 0; i < 4 && series[i] <= most; i++) {
		struct result sum = simulate(k, series[i], 8, series[i]);

		if (k->after)
			printf(" %8.1f%%       ", percent(sum.hit));
		else
			printf(" %6.1f%% %6.1f%%", percent(sum.any),
			    percent(sum.counts));
		fflush(stdout);
	}
	printf("\n");
}

/* Of 4 series: those with a false change, or with the step. */
static void
print_machines(void)
{
	static const struct {
		const char *what;
		struct kind kind; /* with 60 commits of each machine */
	} v[] = {{"noise, all commits", {.noise = .1}},
	    {"noise, shared commits", {.noise = .1, .shared = true}},
	    {"noise of AR .3, all commits", {.noise = .1, .ar = .3}},
	    {"noise of AR .6, all commits", {.noise = .1, .ar = .6}},
	    {"2 sd on all machines", {.noise = .1, .step = -.2}},
	    {"1.5 sd on all machines", {.noise = .1, .step = -.15}},
	    {"2 sd on one machine", {.noise = .1, .step = -.2, .one = true}},
	    {"3 sd on one machine", {.noise = .1, .step = -.3, .one = true}},
	    {"3 sd on all, shared commits",
		{.noise = .1, .step = -.3, .shared = true}}};
	static const size_t machines[] = {1, 2, 3, 5, 8};

	printf("%-38s 1, 2, 3, 5 and 8 machines\n", "");
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		printf("%-38s", v[i].what);
		for (size_t j = 0; j < 5; j++) {
			struct kind k = v[i].kind;
			struct result sum;

			k.machines = machines[j];
			k.commits = k.shared ? 60 * k.machines : 60;
			k.after = k.step < 0 ? k.commits / 3 : 0;
			sum = simulate(&k, 4, 7, k.machines);
			printf(
			    " %6.1f%%", percent(k.after ? sum.hit : sum.any));
			fflush(stdout);
		}
		printf("\n");
	}
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
	print_machines();
	return 0;
}
