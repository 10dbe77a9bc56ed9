#include "indexinfo.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "num.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LOOK_MS 50
#define SECOND 1e9
#define UNKNOWN "ERR unknown command"

static double
read_number(const struct reply *r)
{
	double v;

	if (reply_type(r) == REPLY_INTEGER)
		return (double)reply_integer(r);
	if (reply_text(r) && num_real(reply_text(r), &v) == 0)
		return v;
	return NAN;
}

/* Returns a field of a flat list of names and values; NAN if absent. */
static double
find_number(const struct reply *info, const char *name)
{
	const char *key;

	for (size_t i = 0; i + 1 < reply_len(info); i += 2) {
		key = reply_text(reply_at(info, i));
		if (key && strcmp(key, name) == 0)
			return read_number(reply_at(info, i + 1));
	}
	return NAN;
}

/*
 * Returns the answer to FT.INFO, or NULL. *known is false if the server has no
 * FT.INFO; else the error is reported. Caller frees with reply_free.
 */
static struct reply *
ask_index(const struct target *t, size_t node, const char *index, bool *known)
{
	struct client *c = target_client(t, node);
	struct reply *r;
	const char *error;

	*known = true;
	if (!c)
		return NULL;
	r = CLIENT_CALL(c, control_ms(&t->e, 0), "FT.INFO", index);
	error = !r                         ? client_error(c)
	    : reply_type(r) == REPLY_ERROR ? reply_text(r)
					   : NULL;
	if (error) {
		*known =
		    !r || strncasecmp(error, UNKNOWN, strlen(UNKNOWN)) != 0;
		if (*known)
			err_say("FT.INFO '%s': %s", index, error);
		reply_free(r);
		r = NULL;
	}
	client_close(c);
	return r;
}

/* Returns a number that changes while indexing makes progress; NAN: done. */
static double
measure_backlog(const struct reply *info)
{
	static const char *const busy[] = {
	    "indexing", "backfill_in_progress", "mutation_queue_size"};
	static const char *const parts[] = {
	    "percent_indexed", "backfill_complete_percent", "num_docs"};
	double sum = 0, v;
	bool yes = false;

	for (size_t i = 0; i < sizeof busy / sizeof *busy; i++) {
		v = find_number(info, busy[i]);
		yes = yes || v > 0;
		sum += isnan(v) ? 0 : v;
	}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		v = find_number(info, parts[i]);
		sum += isnan(v) ? 0 : v * (double)(i + 2);
	}
	return yes ? sum : NAN;
}

static int
wait_for_node(const struct target *t, size_t node, const char *index,
    const volatile int *stop)
{
	int64_t moved = clock_ns();
	double last = NAN, now;
	double most = control_ms(&t->e, 0) / 1e3;
	struct reply *info;
	bool known;

	while (!*stop) {
		info = ask_index(t, node, index, &known);
		if (!info)
			return known ? -1 : 0;
		now = measure_backlog(info);
		reply_free(info);
		if (isnan(now))
			return 0;
		if (!(now == last))
			moved = clock_ns();
		last = now;
		if ((double)(clock_ns() - moved) / SECOND > most)
			return err_fail(
			    "index '%s' is not ready: indexing made "
			    "no progress for %g s",
			    index, most);
		poll(NULL, 0, LOOK_MS);
	}
	return -1;
}

int
indexinfo_wait(
    const struct target *t, const char *index, const volatile int *stop)
{
	int rc = 0;

	for (size_t i = 0; i < t->e.nnodes && rc == 0; i++)
		rc = wait_for_node(t, i, index, stop);
	return rc;
}

double
indexinfo_documents(const struct target *t, const char *index)
{
	double sum = -1, v;
	struct reply *info;
	bool known;

	for (size_t i = 0; i < t->e.nnodes; i++) {
		info = ask_index(t, i, index, &known);
		v = info ? find_number(info, "num_docs") : NAN;
		reply_free(info);
		if (!isnan(v))
			sum = sum < 0 ? v : sum + v;
	}
	return sum;
}
