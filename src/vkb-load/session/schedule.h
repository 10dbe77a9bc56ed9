/*
 * The schedule of a session: its scenes, in which order they run on which
 * build, which runs are finished, and how long the others take.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "progress.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/plan/scene.h"

struct builds;
struct engine;
struct json;
struct plan;
struct deciding;
struct profiles_opts;
struct results;
struct roles;

struct turn {
	size_t scene;
	size_t build; /* that of builds_get; SIZE_MAX: all, to name a run in
		       * slices */
	size_t index; /* repetition of this scene and build, from 1 */
	size_t block; /* 0: not interleaved */
};

enum order_how {
	ORDER_INTERLEAVED, /* rounds; in each, every scene over all builds */
	ORDER_SLICES, /* the same, with the builds of a scene at the same time
			 where that can be */
	ORDER_RANDOM, /* everything in any order */
	ORDER_SEQUENTIAL /* build by build, scene by scene */
};

/* Parses the name of an order, as --order takes it; NULL is slices. */
enum order_how schedule_parse_order(const char *s);

/* With a budget: why a case is not run again. */
enum schedule_end {
	SCHEDULE_OPEN, /* it is */
	SCHEDULE_DECIDED,
	SCHEDULE_GIVEN_UP /* its budget could not decide it */
};

enum { SCHEDULE_MOST = 1000000 }; /* runs of a case and build */

struct schedule {
	size_t runs;     /* of each case and build; with a budget the least */
	bool has_budget; /* a case ends when it is decided */
	enum order_how order;
	uint64_t seed;
	struct bench_case *cases; /* those that can be run */
	char **names;             /* names of the cases for people */
	size_t ncases;
	const struct json *others; /* cases of other shards; NULL: none */
	struct roles *roles;       /* roles of each case */
	struct scenes scenes;
	const struct builds *builds;
	const struct engine *engines;
	struct results *results;
	const struct profiles_opts *profiles;
	struct turn *turns;
	size_t nturns;
	struct deciding *deciding;
	enum schedule_end *ends; /* of each case */
	bool *dropped;           /* per case and build: not to be run */
	bool *too_large; /* of each case: its builds are not run together */
	bool *done;      /* per case, build and index up to 'last' */
	size_t last;
	size_t finished; /* of the runs that are planned */
	unsigned parts;  /* of the load that several programs share, or 0 */
	bool elsewhere;  /* servers are started on another machine */
	bool unmeasured; /* nothing is measured */
	struct progress progress;
};

/*
 * Takes the cases of the plan that can be run. 0, or -1 if some cannot, each
 * reported. Call schedule_free in either case.
 */
int schedule_init(
    struct schedule *, const struct plan *, const volatile int *stop);
void schedule_free(struct schedule *);

/* Takes the finished runs of an earlier session. 0, or -1, error reported. */
int schedule_take_finished(struct schedule *);

/* Returns how many runs are planned, finished ones too; with a budget the
 * least. */
size_t schedule_count_runs(const struct schedule *);

/*
 * Adds the metrics of a run, one object for each role of the case, to what
 * decides the case.
 */
void schedule_add_metrics(struct schedule *, const struct turn *, size_t cas,
    const struct json *const *metrics);

/* Does each round have every build? */
bool schedule_has_rounds(const struct schedule *);

/*
 * Returns the n turns with the repetitions first..last, from 1, of each scene
 * on each build; caller frees with free().
 */
struct turn *schedule_make_order(
    const struct schedule *, size_t first, size_t last, size_t *n);

/* Makes the turns of the repetitions first..last that have runs to be done. */
void schedule_make_turns(struct schedule *, size_t first, size_t last);

/* Is a case still to be run in a turn? schedule_count_wanted counts such cases.
 */
bool schedule_is_wanted(
    const struct schedule *, const struct turn *, size_t cas);
size_t schedule_count_wanted(const struct schedule *, const struct turn *);

/* Which builds are not to be run for a case. */
bool *schedule_dropped_builds(const struct schedule *, size_t cas);

/* Is there a build that is run for a case? */
bool schedule_has_build(const struct schedule *, size_t cas);

/*
 * Returns the seconds that the runs from case 'cas' of turn 'first' on
 * take (SIZE_MAX: from its first case). Runs of unknown time count as 0; *all
 * is false if there are any.
 */
double schedule_estimate(
    const struct schedule *, size_t first, size_t cas, bool *all);

/* "SET 16B b run 2/5", with a budget "run 2"; " b" if there are several builds,
 * " reference" of that. Caller frees. */
char *schedule_format_run(
    const struct schedule *, const struct turn *, size_t cas);
char *schedule_format_build(const struct schedule *, const struct turn *);

#endif
