#include "probe.h"
#include "client.h"
#include "control.h"
#include "err.h"
#include "indexinfo.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "roles.h"
#include "str.h"
#include "target.h"
#include "words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The index that a command searches; caller frees; NULL: it does not. */
static char *
index_of(const char *command)
{
	const char *why;
	char **words, *name = NULL;
	size_t n;

	words = command ? words_split(command, &n, &why) : NULL;
	if (words && n > 2 &&
	    (strcasecmp(words[0], "FT.SEARCH") == 0 ||
		strcasecmp(words[0], "FT.AGGREGATE") == 0))
		name = mem_str(words[1]);
	words_free(words);
	return name;
}

/* Hits of an answer to a search; -1: it is none. */
static long long
hits(const struct reply *r)
{
	if (!r || reply_type(r) != REPLY_ARRAY || !reply_len(r) ||
	    reply_type(reply_at(r, 0)) != REPLY_INTEGER)
		return -1;
	return reply_integer(reply_at(r, 0));
}

/* What one node has in an index: 1 something, 0 nothing, -1 unsaid. */
static int
asked(const struct target *t, size_t node, const char *index, char **why)
{
	struct client *c = target_client(t, node);
	struct reply *r;
	long long n;

	if (!c) {
		*why = mem_str(err_last());
		return -1;
	}
	r = CLIENT_CALL(c, control_ms(&t->e, 0), "FT.SEARCH", index, "*",
	    "LIMIT", "0", "1");
	n = hits(r);
	if (n < 0 && !*why)
		*why = mem_str(!r       ? client_error(c)
			: reply_text(r) ? reply_text(r)
					: "no number of hits");
	reply_free(r);
	client_close(c);
	return n < 0 ? -1 : n > 0;
}

/* Every module has a document count of its own, should it not know '*'. */
static int
finds(const struct target *t, const char *index)
{
	char *why = NULL;
	int some = -1, k;

	for (size_t i = 0; i < t->e.nnodes && some <= 0; i++) {
		k = asked(t, i, index, &why);
		some = k > some ? k : some;
	}
	if (some < 0 && indexinfo_documents(t, index) > 0)
		some = 1;
	if (some < 0)
		err_say(
		    "index '%s' answers no search: %s", index, why ? why : "");
	else if (some == 0)
		err_say("index '%s' finds nothing: it has indexed no document",
		    index);
	free(why);
	return some > 0 ? 0 : -1;
}

static int
probe(const struct target *t, const struct roles *r, const volatile int *stop)
{
	char *index;
	int rc = 0;

	for (size_t i = 0; i < r->n && rc == 0; i++) {
		index = index_of(json_get_str(r->v[i].config, "command"));
		if (index)
			rc = indexinfo_wait(t, index, stop) < 0
			    ? -1
			    : finds(t, index);
		free(index);
	}
	return rc;
}

int
probe_before(
    const struct target *t, const struct roles *r, const volatile int *stop)
{
	return r->n > 1 ? 0 : probe(t, r, stop);
}

int
probe_after(
    const struct target *t, const struct roles *r, const volatile int *stop)
{
	return r->n > 1 ? probe(t, r, stop) : 0;
}
