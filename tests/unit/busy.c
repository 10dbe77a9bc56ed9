/* What other programs on the machine do to a row, by the formulas. */
#include "rows.h"

#include "json.h"
#include "vkb-compare/busy.h"
#include "vkb-compare/part.h"

#include <stdlib.h>

enum { RUNS = 3 };

static struct json *plain; /* configuration without keys */

/* Both sides of a case, with the CPU shares of other programs. */
struct world {
	struct pairing pair;
	struct kase kases[2];
	struct part parts[2];
	struct part_metric metrics[2];
	double v[2][RUNS];
};

/* Sets the median of each side; NAN means not known. */
static void
begin(struct world *w, double base, double contender)
{
	const double percent[] = {base, contender};

	*w = (struct world){0};
	for (size_t j = 0; j < 2; j++) {
		w->v[j][0] = 99;
		w->v[j][1] = percent[j];
		w->v[j][2] = 0;
		w->metrics[j] =
		    (struct part_metric){.name = "foreign_cpu_percent",
			.runs = {.v = w->v[j], .n = RUNS}};
		w->parts[j] = (struct part){.rest = json_object(),
		    .metrics = &w->metrics[j],
		    .nmetrics = !isnan(percent[j])};
		w->kases[j] = (struct kase){
		    .config = plain, .parts = &w->parts[j], .nparts = 1};
		w->pair.side[j] = &w->kases[j];
	}
	busy_measure(&(struct comparison){.pairs = &w->pair, .npairs = 1});
}

static void
end(struct world *w)
{
	for (size_t j = 0; j < 2; j++)
		json_free((struct json *)(size_t)w->parts[j].rest);
}

static struct row
make_row(const struct world *w, const char *metric)
{
	struct row r = row(metric, .9);

	r.pair = &w->pair;
	r.busy = busy_noise(&r) > 0;
	return r;
}

/* The standard deviation by chance where others use so many percent. */
static double
luck(double percent)
{
	return isnan(percent) ? 0
			      : .2 * pow(log(1 - fmin(percent, 99) / 100), 2);
}

static void
weights(void)
{
	static const struct {
		const char *metric;
		double weight;
	} of[] = {{"rps", 1}, {"avg_latency_ms", 1}, {"p50_latency_ms", 1},
	    {"p99_latency_ms", 2}, {"p999_latency_ms", 2},
	    {"max_latency_ms", 2}, {"server_cpu_us_per_req", 1},
	    {"used_memory_bytes", 0}, {"bytes_per_key", 0}, {"errors", 0},
	    {"requests", 0}, {"instructions_per_req", 0}};
	struct world w;

	double by_chance = hypot(luck(5), luck(45));

	begin(&w, 5, 45);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct row r = make_row(&w, of[i].metric);

		tap_near(busy_noise(&r),
		    pow(of[i].weight * log(.95 / .55), 2) +
			pow(of[i].weight * by_chance, 2),
		    1e-12, of[i].metric);
		tap_near(busy_own_noise(&r), pow(of[i].weight * by_chance, 2),
		    1e-12, of[i].metric);
	}
	end(&w);
}

static void
shares(void)
{
	const struct {
		const char *what;
		double base, contender, want;
	} of[] = {{"busier", 0, 30, log(1 / .7)},
	    {"calmer", 30, 0, log(1 / .7)},
	    {"most of the time", 0, 92, log(1 / .08)},
	    {"all of it", 100, 0, log(100)},
	    {"enough", 10, 11.8, log(.9 / .882)}, {"less", 10, 11.7, 0},
	    {"much on both sides", 80, 80, 0},
	    {"not known of the baseline", NAN, 30, 0},
	    {"not known of the contender", 30, NAN, 0}};
	double percent[2];

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		double by_chance;
		struct world w;
		struct row r;

		begin(&w, of[i].base, of[i].contender);
		r = make_row(&w, "rps");
		by_chance = hypot(luck(of[i].base), luck(of[i].contender));
		by_chance = by_chance >= .02 && !isnan(of[i].base) &&
			!isnan(of[i].contender)
		    ? by_chance
		    : 0;
		tap_near(sqrt(busy_noise(&r)), hypot(of[i].want, by_chance),
		    1e-12, of[i].what);
		r.exact = true;
		tap_near(busy_noise(&r), 0, 0, "rows without noise have none");
		r.exact = false;
		r.common = true;
		tap_near(busy_noise(&r), 0, 0,
		    "the row of all cases has none, since its cases have it");
		end(&w);
	}
	tap_ok(busy_find(&(struct comparison){0}, percent) == 0, "no rows");
}

static void
found(void)
{
	struct world w[3];
	struct row rows[5];
	struct comparison c = {.rows = rows, .nrows = 5};
	double percent[2] = {-1, -1};

	begin(&w[0], 5, 25);
	begin(&w[1], 41, 4);
	begin(&w[2], 5, 6);
	rows[0] = make_row(&w[0], "rps");
	rows[1] = make_row(&w[0], "p99_latency_ms");
	rows[2] = make_row(&w[1], "bytes_per_key");
	rows[3] = make_row(&w[1], "rps");
	rows[4] = make_row(&w[2], "rps");
	tap_ok(busy_find(&c, percent) == 2, "two cases are widened");
	tap_ok(percent[0] == 41 && percent[1] == 4,
	    "the shares are those of the row whose sides differ most");
	for (size_t i = 0; i < 3; i++)
		end(&w[i]);
}

/* A command of a mixed scenario has the share of the whole. */
static void
missing(void)
{
	struct world w[3];
	struct pairing pairs[3];
	struct json *config[3];

	begin(&w[0], 90, 30);
	begin(&w[1], NAN, 10);
	begin(&w[2], NAN, NAN);
	for (size_t i = 0; i < 3; i++) {
		config[i] = json_object();
		json_set_str(
		    config[i], "mix", i < 2 ? "GET 90, SET 10" : "GET 1");
		for (size_t j = 0; j < 2; j++)
			w[i].kases[j].config = config[i];
		pairs[i] = w[i].pair;
		for (size_t j = 0; j < 2; j++)
			pairs[i].side[j] = &w[i].kases[j];
	}
	busy_measure(&(struct comparison){.pairs = pairs, .npairs = 3});
	tap_ok(pairs[1].busy[0] == 90 && pairs[1].busy[1] == 10,
	    "a command that does not say its share has that of its scenario");
	tap_ok(isnan(pairs[2].busy[0]) && isnan(pairs[2].busy[1]),
	    "a command of another scenario has not");
	tap_ok(pairs[0].busy[0] == 90 && pairs[0].busy[1] == 30,
	    "the scenario has its own");
	for (size_t i = 0; i < 3; i++) {
		json_free(config[i]);
		end(&w[i]);
	}
}

int
main(void)
{
	plain = json_object();
	weights();
	shares();
	found();
	missing();
	json_free(plain);
	return tap_done();
}
