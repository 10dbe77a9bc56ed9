#include "handle.h"
#include "context.h"
#include "client.h"
#include "coproc.h"
#include "counting.h"
#include "err.h"
#include "json.h"
#include "logs.h"
#include "mem.h"
#include "record.h"
#include "extserver.h"
#include "target.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/plan/benchcase.h"

#include <stdio.h>
#include <string.h>

#define PING_MS 10000

/*
 * The module of the build replaces the case's module and takes its arguments.
 */
static struct json *
make_module_list(const struct server_handle *l, const struct bench_case *cas)
{
	const char *path = json_get_str(l->build, "module");
	const struct json *args;
	struct json *list, *m;

	if (!path)
		return NULL;
	list = json_array();
	m = json_object();
	json_set_str(m, "path", path);
	args = json_get(json_first(cas->modules), "args");
	json_set(m, "args", json_dup(args));
	json_push(list, m);
	return list;
}

static struct json *
make_spec(const struct server_handle *l, const struct bench_case *cas)
{
	struct json *rec = record_new("spec");

	json_set_str(rec, "id", l->id);
	json_set_str(rec, "action", cas ? "start" : "stop");
	if (!cas)
		return rec;
	json_set_str(rec, "server", json_get_str(l->build, "server"));
	for (const struct json *m = json_first(cas->server); m;
	     m = json_next(m))
		json_set(rec, json_key(m), json_dup(m));
	if (cas->server_cpus)
		json_set(rec, "cpus", json_dup(cas->server_cpus));
	else if (cas->unplaced)
		json_set_str(rec, "placement", "none");
	json_set(rec, "modules", make_module_list(l, cas));
	if (l->context->serve) {
		json_set_str(rec, "host", l->context->serve->host);
		if (l->context->serve->port)
			json_set_num(rec, "port", l->context->serve->port);
	}
	if (l->count) {
		json_set_num(rec, "count",
		    cas->seed >= 0 ? (double)cas->seed : COUNTING_SEED);
		if (l->context->count_caches)
			json_set_bool(rec, "count_caches", true);
	}
	return rec;
}

/* After an error the coprocess is closed; the next call starts a new one. */
static struct json *
ask_coproc(struct server_handle *l, const struct bench_case *cas)
{
	struct case_context *r = l->context;
	struct json *s, *answer;

	if (!r->coproc)
		r->coproc = coproc_start(serve_words(r->serve));
	if (!r->coproc)
		return NULL;
	s = make_spec(l, cas);
	answer = coproc_ask(r->coproc, s, r->stop);
	json_free(s);
	if (!answer) {
		coproc_close(r->coproc);
		r->coproc = NULL;
	}
	return answer;
}

/* Sets *why to the error that vkb-serve has reported. Returns -1. */
static int
set_failure(const struct json *server, char **why)
{
	const char *error = json_get_str(server, "error");

	*why = mem_str(error ? error : "the server failed");
	return -1;
}

/*
 * Removes from the record of a server on another machine the processes and
 * files, which exist only there. Metrics of them are then unknown.
 */
static void
remove_local_facts(struct json *server)
{
	struct json *n = json_first(json_get(server, "nodes"));

	json_del(server, "dir");
	for (; n; n = json_next(n)) {
		json_del(n, "pid");
		json_del(n, "log");
		json_del(n, "unixsocket");
	}
}

double
handle_timeout(const struct case_context *r, const struct bench_case *cas)
{
	return r->timeout_s > 0 ? r->timeout_s : cas->timeout_s;
}

int
handle_start(struct server_handle *l, const struct bench_case *cas, char **why)
{
	struct case_context *r = l->context;
	struct json *server;
	int rc = 0;

	*why = NULL;
	l->used = false;
	r->halt = 0;
	if (r->external) {
		rc =
		    extserver_prepare(r->external, cas, handle_timeout(r, cas));
		if (rc == 0) {
			l->server = json_dup(extserver_record(r->external));
			return 0;
		}
		*why = mem_str(err_last());
		extserver_restore(r->external);
		return rc;
	}
	snprintf(l->id, sizeof l->id, "%s-%zu", r->session, ++r->servers);
	server = ask_coproc(l, cas);
	if (!server)
		return -1;
	if (strcmp(json_get_str(server, "status"), "ok") == 0) {
		l->server = server;
		if (r->started)
			r->started(r->started_arg, l->build, server);
		if (r->serve)
			remove_local_facts(server);
		logs_forget_server(l->logs);
		l->logs = r->serve
		    ? NULL
		    : logs_begin_server(r->logs, server, cas->id,
			  json_get(l->build, "subject"), r->run_name);
		return 0;
	}
	rc = set_failure(server, why);
	json_free(server);
	return rc;
}

/* Compares a hash that the build has with that of what was started: the
 * program, or a script that started it. */
static int
check_hash(const struct server_handle *l, const char *key, const char *what,
    const struct json *file)
{
	const char *wanted = json_get_str(l->build, key);
	const char *found = json_get_str(file, "sha256");
	const char *script = json_get_str(file, "script_sha256");
	const char *path = json_get_str(file, "path");

	if (!wanted || (found && strcmp(found, wanted) == 0) ||
	    (script && strcmp(script, wanted) == 0))
		return 0;
	return err_fail("the %s '%s' is not the one that is wanted: it was "
			"replaced; its SHA-256 is %s instead of %s; put the "
			"wanted file there",
	    what, path ? path : "", found ? found : "not known", wanted);
}

int
handle_check_files(const struct server_handle *l)
{
	if (!json_get_bool(l->build, "again", false))
		return 0;
	if (check_hash(l, "binary_sha256", "server",
		json_get(l->server, "binary")) < 0)
		return -1;
	return check_hash(l, "module_sha256", "module",
	    json_first(json_get(l->server, "modules")));
}

/* Stops a server of our own. Returns 0, or -1 with *why. */
static int
stop_server(struct server_handle *l, char **why)
{
	struct json *server = ask_coproc(l, NULL);
	int rc = 0;

	if (!server)
		return -1;
	if (strcmp(json_get_str(server, "status"), "failed") == 0)
		rc = set_failure(server, why);
	json_free(server);
	return rc;
}

int
handle_end(struct server_handle *l, char **why)
{
	struct case_context *r = l->context;
	int rc = 0;

	*why = NULL;
	if (!l->server)
		return 0;
	json_free(l->server);
	l->server = NULL;
	if (r->external)
		return extserver_restore(r->external);
	if (r->coproc && !*r->stop) /* else its servers end with it */
		rc = stop_server(l, why);
	if (l->logs)
		logs_end_server(l->logs);
	return rc;
}

void
handle_free(struct server_handle *l)
{
	logs_forget_server(l->logs);
	l->logs = NULL;
}

int
handle_reset(struct server_handle *l, const struct bench_case *cas, char **why)
{
	*why = NULL;
	if (l->server && !l->used)
		return 0;
	if (handle_end(l, why) < 0)
		return -1;
	return handle_start(l, cas, why);
}

/* Asks the server: vkb-serve may not have noticed yet that it ended. */
static bool
is_answering(const struct server_handle *l, const struct bench_case *cas)
{
	struct client *c = NULL;
	struct reply *r = NULL;
	struct target t;
	bool made = handle_target(l, cas, &t) == 0, yes;

	if (made)
		c = target_client(&t, 0);
	if (c)
		r = CLIENT_CALL(c, control_ms(&t.e, PING_MS), "PING");
	yes = !made || r != NULL; /* what is wrong here is not the server */
	reply_free(r);
	client_close(c);
	target_free(&t);
	return yes;
}

bool
handle_is_lost(
    const struct server_handle *l, const struct bench_case *cas, bool doubt)
{
	if (!l->server)
		return true;
	if (l->context->external)
		return false;
	return coproc_has_news(l->context->coproc) ||
	    (doubt && !is_answering(l, cas));
}

int
handle_target(const struct server_handle *l, const struct bench_case *cas,
    struct target *t)
{
	const char *own = cas->password;

	if (target_make(t, l->server, cas->unixsocket, &cas->load) < 0)
		return -1;
	if (l->context->external)
		extserver_login(l->context->external, t);
	else
		t->e.password = own && *own ? own : NULL;
	t->e.timeout_s = handle_timeout(l->context, cas);
	return 0;
}
