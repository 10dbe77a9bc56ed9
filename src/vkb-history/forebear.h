/*
 * What a commit is to be compared with: the newest ones before it that were
 * measured.
 */
#ifndef FOREBEAR_H
#define FOREBEAR_H

#include <stddef.h>

struct forebear {
	const char *commit; /* NULL: the newest ones of all */
	const char *repo;   /* knows what comes before it; NULL */
	size_t most;
};

/*
 * Their records to stdout, the oldest first; those of the commit itself too.
 * 0, also where there are none, which is said; or -1 and said.
 */
int forebear_print(const char *dir, const struct forebear *);

#endif
