/*
 * The schedule of a session: its scenes, which runs are finished, which come
 * next, and how long they take.
 */
#ifndef AGENDA_H
#define AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order.h"
#include "progress.h"
#include "vkb-load/plan/scene.h"

struct builds;
struct engine;
struct json;
struct looks;
struct plan;
struct precise;
struct precision;
struct profiles_opts;
struct results;
struct roles;

struct agenda {
	const struct looks *looks;
	enum order_how order;
	uint64_t seed;
	struct json **cases; /* those that can be run; borrowed from the plan */
	size_t ncases;
	struct roles *roles; /* roles of each case */
	struct scenes scenes;
	const struct builds *builds;
	const struct engine *engines;
	struct results *results;
	const struct profiles_opts *profiles;
	struct slot *slots; /* up to the next look */
	size_t nslots;
	size_t look; /* the next one, from 0 */
	struct precise *precise;
	struct precision *seen; /* precision of each case at the last look */
	bool *closed;           /* cases that are precise */
	bool *out;              /* per case and build: not to be run */
	bool *done;             /* per case, build and index up to 'last' */
	size_t last;
	size_t finished;
	struct progress progress;
};

/*
 * Takes the cases of the plan that can be run. 0, or -1 if some cannot, each
 * reported. Call agenda_free in either case.
 */
int agenda_init(struct agenda *, const struct plan *, const volatile int *stop);
void agenda_free(struct agenda *);

/* Takes the finished runs of an earlier session. 0, or -1, error reported. */
int agenda_take_finished(struct agenda *);

/* Makes the slots before the next look that have runs to be done. */
void agenda_slots(struct agenda *);

/* Is a case still to be run in a slot? agenda_open counts such cases. */
bool agenda_wanted(const struct agenda *, const struct slot *, size_t cas);
size_t agenda_open(const struct agenda *, const struct slot *);

/* Which builds are not to be run for a case. */
bool *agenda_out(const struct agenda *, size_t cas);

/* Runs of a case after the next look, if it does not become precise. */
size_t agenda_later(const struct agenda *, size_t cas);

/*
 * Returns the most seconds that the runs from case 'cas' of slot 'first' on
 * take (SIZE_MAX: from its first case). Runs of unknown time count as 0; *all
 * is false if there are any.
 */
double agenda_left(const struct agenda *, size_t first, size_t cas, bool *all);

/* "SET-d16 b run 2 of 5"; " b" if there are several builds. Caller frees. */
char *agenda_name(const struct agenda *, const struct slot *, size_t cas);
char *agenda_builder(const struct agenda *, const struct slot *);

#endif
