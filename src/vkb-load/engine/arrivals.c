#include "arrivals.h"
#include "engine.h"

static bool
wants_closed(const struct engine_work *w)
{
	return w->rate <= 0;
}

static bool
wants_constant(const struct engine_work *w)
{
	return w->rate > 0 && w->arrivals == ENGINE_CONSTANT;
}

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

static bool
wants_poisson(const struct engine_work *w)
{
	return w->rate > 0 && w->arrivals == ENGINE_POISSON;
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

static const struct arrivals kinds[] = {
    {"closed", wants_closed, &closedloop, NULL, NULL},
    {"constant", wants_constant, &openloop, begin_constant, advance_constant},
    {"poisson", wants_poisson, &openloop, begin_poisson, advance_poisson},
};

const struct arrivals *
arrivals_find(const struct engine_work *w)
{
	const struct arrivals *a = kinds;

	while (!a->wanted(w))
		a++;
	return a;
}
