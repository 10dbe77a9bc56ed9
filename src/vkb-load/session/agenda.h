/*
 * What a session has to do: its scenes, what of them is finished, what comes
 * next, and how long that will take.
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
	struct json **cases; /* those that can be run; borrowed of the plan */
	size_t ncases;
	struct roles *roles; /* of each case: who its records are of */
	struct scenes scenes;
	const struct builds *builds;
	const struct engine *engines;
	struct results *results;
	const struct profiles_opts *profiles;
	struct slot *slots; /* up to the next look */
	size_t nslots;
	size_t look; /* the next one, from 0 */
	struct precise *precise;
	struct precision *seen; /* of each case at the last look */
	bool *closed;           /* cases that are precise */
	bool *out;              /* of each case, builds that only failed */
	bool *done; /* of each case, build and index up to 'last': before */
	size_t last;
	size_t finished;
	struct progress progress;
};

/*
 * Takes what of the plan can be run. 0; -1: some cannot, which was said, one
 * line for each. agenda_free in either case.
 */
int agenda_init(struct agenda *, const struct plan *, const volatile int *stop);
void agenda_free(struct agenda *);

/* Takes what an earlier session has finished. 0, or -1 and said. */
int agenda_take_finished(struct agenda *);

/* The slots before the next look in which there is still something to do. */
void agenda_slots(struct agenda *);

/* Is this case still to be measured in a slot? */
bool agenda_wanted(const struct agenda *, const struct slot *, size_t cas);
size_t agenda_open(const struct agenda *, const struct slot *);

/* Builds that are given up for a case. */
bool *agenda_out(const struct agenda *, size_t cas);

/* Runs after the next look, if no case becomes precise before the end. */
size_t agenda_later(const struct agenda *, size_t cas);

/*
 * Seconds of the runs from slot 'first' on, and its case 'cas', at most, as
 * far as they are known; *all: they are.
 */
double agenda_left(const struct agenda *, size_t first, size_t cas, bool *all);

/* "SET-d16 b run 2 of 5"; " b" where there are several builds. Caller frees. */
char *agenda_name(const struct agenda *, const struct slot *, size_t cas);
char *agenda_builder(const struct agenda *, const struct slot *);

#endif
