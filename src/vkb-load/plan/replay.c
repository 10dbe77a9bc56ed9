#include "replay.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "plan.h"
#include "tracefile.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define CLOSED "closed"
#define CLIENTS_MOST 1000 /* unless a configuration says how many */
#define PIPELINE 100      /* the same, at recorded times */

const char *
replay_parse_speed(const char *text, double *speed)
{
	*speed = 0;
	if (strcmp(text, CLOSED) == 0)
		return NULL;
	if (num_real(text, speed) == 0 && *speed >= 1e-6 && *speed <= 1e6)
		return NULL;
	return "use a number from 0.000001 to 1000000, or " CLOSED;
}

const char *
replay_find_conflict(const char *replay, const struct plan_want *w, bool count,
    bool no_flush, const char *order)
{
	if (!replay)
		return NULL;
	if (w->db > 0)
		return "'--replay' excludes a database of '--uri'";
	if (count)
		return "'--replay' excludes '--count' and '--count-only'";
	if (no_flush)
		return "'--replay' excludes '--no-flush': the keys of a trace "
		       "cannot get a prefix";
	if (order && strcmp(order, "slices") == 0)
		return "'--replay' excludes '--order slices'";
	return NULL;
}

/* Returns why a trace cannot be replayed at this speed, or NULL. */
static char *
check_times(const char *path, const struct tracefile_totals *t, double speed)
{
	if (!t->commands)
		return mem_printf("%s: it has no commands", path);
	if (speed > 0 && t->seconds <= 0 && t->commands > 1)
		return mem_printf("%s: all its commands came at one time: "
				  "replay it " CLOSED,
		    path);
	return NULL;
}

/* Writes a speed in its only form: 2, not "2.0"; none for 1. */
static void
set_speed(struct json *config, const char *text)
{
	double speed = 1;
	char *plain;

	json_del(config, "replay_speed");
	if (text)
		replay_parse_speed(text, &speed); /* it was checked */
	plain = speed > 0 ? mem_printf("%.15g", speed) : mem_str(CLOSED);
	if (strcmp(plain, "1") != 0)
		json_set_str(config, "replay_speed", plain);
	free(plain);
}

/* Sets what a configuration did not say. */
static void
set_defaults(
    struct json *config, const struct tracefile_totals *t, double speed)
{
	double clients = t->conns > CLIENTS_MOST ? CLIENTS_MOST
	    : t->conns                           ? (double)t->conns
						 : 1;

	if (!json_get(config, "clients"))
		json_set_num(config, "clients", clients);
	if (!json_get(config, "pipeline"))
		json_set_num(config, "pipeline", speed > 0 ? PIPELINE : 1);
}

/*
 * Turns a case into one that replays a trace. Returns NULL, or why the trace
 * cannot be replayed; caller frees.
 */
static char *
set_trace(struct json *cas, const char *path, const char *speed)
{
	/* Options can have set these. */
	static const char *const others[] = {"rate", "arrivals", "db"};
	struct json *config = json_get(cas, "config");
	const char *slash = strrchr(path, '/');
	struct tracefile_totals totals = {0};
	char full[PATH_MAX], *why = NULL;
	double factor = 1;

	if (speed)
		replay_parse_speed(speed, &factor);
	if (tracefile_totals(path, &totals, &why) == 0)
		why = check_times(path, &totals, factor);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		json_del(config, others[i]);
	json_set_str(config, "command", REPLAY_COMMAND);
	json_set_str(config, "replay", slash ? slash + 1 : path);
	json_set_str(config, "trace", totals.id);
	set_speed(config, speed);
	set_defaults(config, &totals, factor);
	if (!json_get(cas, "client"))
		json_set(cas, "client", json_object());
	json_set_str(json_get(cas, "client"), "replay",
	    realpath(path, full) ? full : path);
	return why;
}

char *
replay_make_case(const struct json *cfg, struct json *cas)
{
	const struct json *own = json_get(cfg, "replay_speed");
	const char *path = json_get_str(cfg, "replay");
	char *speed, *why;

	if (!path)
		return NULL;
	speed = json_str(own) ? mem_str(json_str(own))
			      : mem_printf("%.15g", json_num(own, 1));
	why = set_trace(cas, path, speed);
	free(speed);
	return why;
}

char *
replay_check(const struct json *cas)
{
	const char *path = json_str(json_path(cas, "client.replay"));
	const char *want = json_str(json_path(cas, "config.trace"));
	struct tracefile_totals totals;
	char *why = NULL;

	if (!json_path(cas, "config.replay"))
		return NULL;
	if (!path || !want)
		return mem_str("'client.replay' or 'config.trace' is missing");
	if (tracefile_totals(path, &totals, &why) == 0 &&
	    strcmp(totals.id, want) != 0)
		why = mem_printf("%s: not the trace of the case: its id is "
				 "%s, not %s",
		    path, totals.id, want);
	return why;
}
