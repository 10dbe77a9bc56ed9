/*
 * What is done to the rows of a store, each as a whole: begun and committed by
 * the caller. 0; 1: the answer is no, said; -1: trouble, said.
 */
#ifndef WORK_H
#define WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "order.h"
#include "rules.h"

struct footprint;
struct gitrepo;
struct lineage;
struct store;

/* One commit that is meant, or was found. */
struct commit {
	char *sha;
	double time;      /* 0: not known */
	struct json *rec; /* its record, or NULL */
};

struct commits {
	struct commit *v;
	size_t n, cap;
};
/* 'sha' is copied, 'rec' is taken. */
void commits_add(
    struct commits *, const char *sha, double time, struct json *rec);
void commits_free(struct commits *);

struct work {
	struct store *store;
	struct rules rules;
	const struct footprint *config; /* NULL: any, where that is possible */
	const char *architecture;       /* the same */
	bool subset;                    /* what a larger config has done is */
	enum order order;
};

/* The next 'most' ones of the history; with 'claim' they are taken. */
int work_next(struct work *, const struct lineage *, size_t most, bool claim,
    struct commits *out);

/* Takes these; 'out' gets those that were. */
int work_claim(struct work *, const struct commits *, struct commits *out);

int work_mark(struct work *, const struct commits *, enum rules_status,
    const char *reason);

/* All of the owner where there are no commits. */
int work_prolong(struct work *, const struct commits *);

/* *n: how many went. */
int work_cleanup(struct work *, size_t *n);

#endif
