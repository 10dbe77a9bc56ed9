#include "arrivals.h"
#include "engine.h"

static void
begin_constant(struct schedule *s)
{
	s->next_ns = s->first_ns;
}

static void
advance_constant(struct schedule *s)
{
	s->next_ns = s->first_ns + (double)++s->n * s->gap_ns;
}

static void
begin_poisson(struct schedule *s)
{
	s->next_ns = s->first_ns + s->gap_ns * rng_exponential(&s->rng);
}

static void
advance_poisson(struct schedule *s)
{
	s->n++;
	s->next_ns += s->gap_ns * rng_exponential(&s->rng);
}

static void
set_next(struct schedule *s)
{
	s->next_ns = 1e9 * ratespec_time(&s->timing, s->due);
}

static void
begin_ramp(struct schedule *s)
{
	set_next(s);
}

static void
advance_ramp(struct schedule *s)
{
	s->n++;
	s->due += s->threads;
	set_next(s);
}

static void
begin_poisson_ramp(struct schedule *s)
{
	s->due = s->threads * rng_exponential(&s->rng);
	set_next(s);
}

static void
advance_poisson_ramp(struct schedule *s)
{
	s->n++;
	s->due += s->threads * rng_exponential(&s->rng);
	set_next(s);
}

static const struct arrivals closed = {.pacing = &closedloop};
static const struct arrivals closed_mix = {.pacing = &closedloop_mix};
static const struct arrivals scheduled[] = {
    [ENGINE_CONSTANT] = {&openloop, begin_constant, advance_constant},
    [ENGINE_POISSON] = {&openloop, begin_poisson, advance_poisson}};
static const struct arrivals changing[] = {
    [ENGINE_CONSTANT] = {&openloop, begin_ramp, advance_ramp},
    [ENGINE_POISSON] = {&openloop, begin_poisson_ramp, advance_poisson_ramp}};
static const struct arrivals recorded = {.pacing = &replayloop};
static const struct arrivals replayed = {.pacing = &closedreplay};

const struct arrivals *
arrivals_find(const struct engine_work *w)
{
	if (w->replay)
		return w->replay_speed > 0 ? &recorded : &replayed;
	if (ratespec_changes(&w->ramp))
		return &changing[w->arrivals];
	if (w->rate > 0)
		return &scheduled[w->arrivals];
	return w->nmix ? &closed_mix : &closed;
}
