#include "turns.h"
#include "caserunner.h"
#include "err.h"
#include "mem.h"
#include "schedule.h"
#include "stopping.h"

#include <stdbool.h>
#include <stdlib.h>

/*
 * An adaptive session repeats a run that fails, then leaves the build out of
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

/* Measures one build; in an adaptive session again if it fails. */
static int
run_alone(struct turns *s, struct case_run *v)
{
	int tries = stopping_is_adaptive(s->schedule->rule) ? TRIES : 1, k = 0;
	size_t again = 0;

	for (int try = 0; try < tries && k == 0 && (!try || again); try++) {
		s->schedule->progress.total += again;
		v->failed = 0;
		k = case_runner_run(s->runner, v);
		s->failed += again = v->failed;
	}
	return k;
}

/* Runs n turns of a scene: one, or those of several builds in slices. */
static int
run_together(struct turns *s, size_t first, size_t n)
{
	struct case_run *v = mem_array(n, sizeof *v);
	struct turn *alone = mem_array(n, sizeof *alone);
	size_t kept = 0, cas;
	int k = 1;

	s->at = first;
	for (size_t i = 0; i < n; i++)
		if (begin_turn(s, &s->schedule->turns[first + i], &v[kept]))
			kept++;
		else
			free(v[kept].wanted);
	if (kept > 1)
		k = case_runner_run_slices(s->runner, v, kept);
	cas = s->schedule->scenes.v[s->schedule->turns[first].scene].v[0];
	for (size_t i = 0; i < kept; i++)
		s->failed += v[i].failed;
	for (size_t i = 0; i < kept && k == 1; i++) {
		/* Without a block it is not paired with runs in slices. */
		alone[i] = *v[i].turn;
		if (kept > 1 && !s->schedule->too_large[cas])
			alone[i].block = 0;
		v[i].turn = &alone[i];
		if (run_alone(s, &v[i]) < 0)
			k = -1;
	}
	for (size_t i = 0; i < kept; i++)
		end_turn(s, &v[i],
		    stopping_is_adaptive(s->schedule->rule) && k >= 0);
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

	for (size_t i = 0; i < s->schedule->nturns; i += n) {
		n = count_together(s, i);
		if (*s->runner->context.stop || run_together(s, i, n) < 0)
			return -1;
	}
	return 0;
}
