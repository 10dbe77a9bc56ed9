/* The rates of servers that were loaded interleaved. */
#include "vkb-load/engine/slices.h"
#include "tap.h"
#include "vkb-load/engine/engine.h"

#include <math.h>

#define TURNS 10

struct loaded {
	struct engine_interval v[TURNS];
	struct engine_work work;
	struct engine_result result;
	struct engine_load load;
};

/* Sets the requests of each slice; a slice lasts a tenth of a second. */
static void
fill(struct loaded *l, const double *requests)
{
	double sum = 0;

	for (int i = 0; i < TURNS; i++) {
		l->v[i] = (struct engine_interval){
		    .length_s = .1, .requests = (uint64_t)requests[i]};
		sum += requests[i];
	}
	l->result = (struct engine_result){
	    .intervals = l->v, .nintervals = TURNS, .elapsed_s = 1, .rps = sum};
	l->work = (struct engine_work){.clients = 1};
	l->load = (struct engine_load){
	    .n = 1, .works = &l->work, .results = &l->result};
}

static bool
is_near(double a, double b)
{
	return fabs(a / b - 1) < 1e-9;
}

/* Returns the ratio of the second load to the first. */
static double
compare(const double *x, const double *y, struct loaded *l)
{
	struct engine_load both[2];

	fill(&l[0], x);
	fill(&l[1], y);
	both[0] = l[0].load;
	both[1] = l[1].load;
	slices_set_rates(both, 2);
	return l[1].result.rps / l[0].result.rps;
}

static void
ratios(void)
{
	double calm[TURNS] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
	double slower[TURNS] = {95, 95, 95, 95, 95, 95, 95, 95, 95, 95};
	double drift[TURNS] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
	double drift2[TURNS] = {20, 40, 60, 80, 100, 120, 140, 160, 180, 200};
	double hit[TURNS] = {95, 95, 1, 2, 95, 95, 3, 95, 95, 95};
	double silent[TURNS] = {95, 0, 95, 95, 95, 95, 95, 95, 0, 95};
	double other[TURNS] = {100, 100, 0, 100, 100, 100, 100, 100, 100, 100};
	double hung[TURNS] = {95, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	double rising[TURNS] = {
	    100, 101, 102, 103, 104, 105, 106, 107, 108, 109};
	double falling[TURNS] = {
	    109, 108, 107, 106, 105, 104, 103, 102, 101, 100};
	struct loaded l[2];

	tap_ok(is_near(compare(calm, slower, l), .95) &&
		is_near(l[0].result.rps * l[1].result.rps, 950. * 1000),
	    "steady slices: the ratio and the mean of the rates");
	tap_ok(is_near(compare(calm, rising, l), sqrt(1.04 * 1.05)) &&
		is_near(compare(calm, falling, l), sqrt(1.04 * 1.05)) &&
		is_near(
		    l[0].result.rps * l[1].result.rps, 1e6 * sqrt(1.04 * 1.05)),
	    "every slice counts for the median, the first and the last too");
	tap_ok(is_near(compare(drift, drift2, l), 2),
	    "noise that both servers have does not change the ratio");
	tap_ok(is_near(compare(calm, hit, l), .95),
	    "noise in a few slices of one server does not change the ratio");
	tap_ok(is_near(compare(other, silent, l), .95),
	    "a turn in which one server answered nothing is left out");
	tap_ok(is_near(compare(calm, hung, l), 95. / 1000),
	    "a server that answers in one slice only keeps its own rate");
}

/* A number of requests: the last slice ends when they are made. */
static void
counted(void)
{
	double calm[TURNS] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
	double odd[TURNS] = {90, 90, 90, 90, 90, 95, 95, 95, 95, 9000};
	struct loaded l[2];
	struct engine_load both[2];

	for (size_t n = TURNS; n; n = n == TURNS ? 3 : 0) {
		fill(&l[0], calm);
		fill(&l[1], odd);
		for (int i = 0; i < 2; i++) {
			l[i].work.requests = 1000;
			l[i].result.nintervals = n;
			both[i] = l[i].load;
		}
		slices_set_rates(both, 2);
		if (n == TURNS)
			tap_ok(is_near(l[1].result.rps / l[0].result.rps, .9),
			    "with a number of requests the last slice is left "
			    "out");
		else
			tap_ok(is_near(l[0].result.rps, 1000),
			    "three slices are too few: the rate is that of the "
			    "whole run");
	}
}

static void
several(void)
{
	double a[TURNS] = {100, 200, 100, 200, 100, 200, 100, 200, 100, 200};
	double b[TURNS] = {110, 220, 110, 220, 110, 220, 110, 220, 110, 220};
	double c[TURNS] = {121, 242, 121, 242, 1, 242, 121, 242, 121, 242};
	struct loaded l[3];
	struct engine_load all[3];

	fill(&l[0], a);
	fill(&l[1], b);
	fill(&l[2], c);
	for (int i = 0; i < 3; i++)
		all[i] = l[i].load;
	slices_set_rates(all, 3);
	tap_ok(is_near(l[1].result.rps / l[0].result.rps, 1.1) &&
		is_near(l[2].result.rps / l[0].result.rps, 1.21),
	    "three loads are compared slice by slice");
}

static void
streams(void)
{
	double a[TURNS] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
	double b[TURNS] = {60, 60, 60, 60, 60, 60, 6, 60, 60, 60};
	double c[TURNS] = {30, 30, 30, 30, 30, 30, 3, 30, 30, 30};
	struct engine_result two[2];
	struct engine_work works[2] = {{.clients = 1}, {.clients = 1}};
	struct engine_load loads[2];
	struct loaded l[3];

	fill(&l[0], a);
	fill(&l[1], b);
	fill(&l[2], c);
	two[0] = l[1].result;
	two[1] = l[2].result;
	loads[0] = l[0].load;
	loads[1] = (struct engine_load){.n = 2, .works = works, .results = two};
	slices_set_rates(loads, 2);
	tap_ok(is_near((two[0].rps + two[1].rps) / l[0].result.rps, .9) &&
		is_near(two[0].rps / two[1].rps, 2),
	    "the streams of a load share its rate");
}

/* The parts of a mixed scenario, one of which is slower. */
static void
roles(void)
{
	double a[TURNS] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
	double b[TURNS] = {80, 80, 80, 80, 8, 80, 80, 80, 8, 80};
	double c[TURNS] = {30, 30, 30, 30, 30, 3, 30, 3, 30, 30};
	struct engine_result v[2][2];
	struct engine_work works[2] = {{.role = 0}, {.role = 1}};
	struct engine_load loads[2];
	struct loaded l[3];

	fill(&l[0], a);
	fill(&l[1], b);
	fill(&l[2], c);
	v[0][0] = l[0].result;
	v[1][0] = l[1].result;
	v[0][1] = v[1][1] = l[2].result;
	for (int k = 0; k < 2; k++)
		loads[k] = (struct engine_load){
		    .n = 2, .works = works, .results = v[k]};
	slices_set_rates(loads, 2);
	tap_ok(is_near(v[1][0].rps / v[0][0].rps, .8) &&
		is_near(v[1][1].rps, v[0][1].rps) && is_near(v[0][1].rps, 300),
	    "each role has its own rate");
}

int
main(void)
{
	ratios();
	counted();
	several();
	streams();
	roles();
	return tap_done();
}
