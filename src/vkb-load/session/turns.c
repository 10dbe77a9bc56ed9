#include "turns.h"
#include "caserunner.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "schedule.h"
#include "vkb-load/plan/builds.h"

#include <stdbool.h>
#include <stdlib.h>

/*
 * With a budget a run that fails is repeated, and then the build left out of
 * the case. With a fixed number of runs a failed run is not repeated.
 */
#define TRIES 3

static void
drop_build(struct turns *s, const struct turn *turn, size_t cas)
{
	char *who = schedule_format_build(s->schedule, turn);

	schedule_dropped_builds(s->schedule, cas)[turn->build] = true;
	err_say("%s%s: failed %d times in a row, and is not run again",
	    s->schedule->cases[cas].id, who, TRIES);
	free(who);
}

/* Makes what is wanted of a turn. Returns how many cases that are. */
static size_t
begin_turn(const struct turns *s, const struct turn *turn, struct case_run *v)
{
	const struct scene *scene = &s->schedule->scenes.v[turn->scene];
	size_t n = 0;

	*v = (struct case_run){
	    .turn = turn, .wanted = mem_array(scene->n + 1, sizeof *v->wanted)};
	for (size_t c = 0; c < scene->n; c++)
		n += v->wanted[c] =
		    schedule_is_wanted(s->schedule, turn, scene->v[c]);
	return n;
}

/* Ends a turn: what is still wanted has failed. */
static void
end_turn(struct turns *s, struct case_run *v, bool drop)
{
	const struct scene *scene = &s->schedule->scenes.v[v->turn->scene];

	for (size_t c = 0; c < scene->n && drop; c++)
		if (v->wanted[c])
			drop_build(s, v->turn, scene->v[c]);
	free(v->wanted);
}

/* Measures one build; with a budget again if it fails. */
static int
run_alone(struct turns *s, struct case_run *v)
{
	int tries = s->schedule->has_budget ? TRIES : 1, k = 0;
	size_t again = 0;

	for (int try = 0; try < tries && k == 0 && (!try || again); try++) {
		s->schedule->progress.total += again;
		v->failed = 0;
		k = case_runner_run(s->runner, v);
		s->failed += again = v->failed;
	}
	return k;
}

/* Has a case of the scene ratios? */
static bool
has_closed_loop(const struct schedule *a, const struct scene *scene)
{
	for (size_t c = 0; c < scene->n; c++)
		if (metric_is_closed(
			json_get(a->cases[scene->v[c]].record, "config")))
			return true;
	return false;
}

/* Makes what is to be run on the reference beside n turns of a scene. Returns
 * whether that is anything: only closed loops have ratios. */
static bool
begin_reference(const struct turns *s, const struct case_run *v, size_t n,
    struct turn *turn, struct case_run *reference)
{
	const struct schedule *a = s->schedule;
	const struct scene *scene;

	json_free(s->runner->beside);
	s->runner->beside = NULL;
	if (!n || !a->builds->reference)
		return false;
	*turn = *v->turn;
	turn->build = a->builds->n;
	scene = &a->scenes.v[turn->scene];
	if (!has_closed_loop(a, scene))
		return false;
	*reference = (struct case_run){.turn = turn,
	    .wanted = mem_array(scene->n + 1, sizeof(bool)),
	    .reference = true};
	for (size_t c = 0; c < scene->n; c++)
		for (size_t i = 0; i < n; i++)
			reference->wanted[c] |= v[i].wanted[c];
	return true;
}

/* Measures the reference, then one build beside it. */
static int
run_beside_reference(struct turns *s, struct case_run *v)
{
	struct case_run reference;
	struct turn turn;
	int k = 0;

	if (begin_reference(s, v, 1, &turn, &reference)) {
		k = case_runner_run(s->runner, &reference);
		s->failed += reference.failed;
		free(reference.wanted);
	}
	return k < 0 ? -1 : run_alone(s, v);
}

/* Runs n turns of a scene: one, or those of several builds in slices. */
static int
run_together(struct turns *s, size_t first, size_t n)
{
	struct case_run *v = mem_array(n + 1, sizeof *v);
	struct turn *alone = mem_array(n + 1, sizeof *alone);
	bool reference,
	    together =
		case_runner_can_slice(s->schedule, &s->schedule->turns[first]);
	size_t kept = 0, all, cas;
	int k = 1;

	s->at = first;
	for (size_t i = 0; i < n; i++)
		if (begin_turn(s, &s->schedule->turns[first + i], &v[kept]))
			kept++;
		else
			free(v[kept].wanted);
	reference = begin_reference(s, v, kept, &alone[n], &v[kept]);
	all = kept + reference;
	together = together && all > 1;
	if (together)
		k = case_runner_run_slices(s->runner, v, all);
	if (reference) {
		s->failed += v[kept].failed;
		free(v[kept].wanted);
	}
	cas = s->schedule->scenes.v[s->schedule->turns[first].scene].v[0];
	for (size_t i = 0; i < kept; i++)
		s->failed += v[i].failed;
	for (size_t i = 0; i < kept && k == 1; i++) {
		/* Without a block it is not paired with runs in slices, nor
		 * compared with the reference. */
		bool lost = together && !s->schedule->too_large[cas];

		alone[i] = *v[i].turn;
		if (lost)
			alone[i].block = 0;
		v[i].turn = &alone[i];
		if ((lost ? run_alone : run_beside_reference)(s, &v[i]) < 0)
			k = -1;
	}
	for (size_t i = 0; i < kept; i++)
		end_turn(s, &v[i], s->schedule->has_budget && k >= 0);
	free(alone);
	free(v);
	return k < 0 ? -1 : 0;
}

/* Returns how many turns from the i-th on are run at the same time. */
static size_t
count_together(const struct turns *s, size_t i)
{
	const struct turn *v = &s->schedule->turns[i];
	size_t n = 1;

	if (case_runner_can_slice(s->schedule, v))
		while (i + n < s->schedule->nturns && v[n].scene == v->scene &&
		    v[n].index == v->index)
			n++;
	return n;
}

int
turns_run(struct turns *s)
{
	size_t n;
	int rc = 0;

	for (size_t i = 0; i < s->schedule->nturns; i += n) {
		n = count_together(s, i);
		if (*s->runner->context.stop || run_together(s, i, n) < 0) {
			rc = -1;
			break;
		}
	}
	json_free(s->runner->beside);
	s->runner->beside = NULL;
	return rc;
}
