#include "follow.h"
#include "fleet.h"
#include "halt.h"

#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A server that was started; 'fleet' is NULL once it has ended by itself. */
struct entry {
	char *id;
	struct fleet *fleet;
};

struct following {
	struct shared *shared;
	struct entry *v;
	size_t n, cap;
	struct str in; /* input after the last newline */
	size_t lineno;
	bool trouble;
	int broken; /* 1: cannot write to stdout; -1: its reader has ended */
};

static bool
is_reader_gone(void)
{
	struct pollfd fd = {.fd = STDOUT_FILENO};

	return poll(&fd, 1, 0) > 0;
}

/* Writes the record to stdout and frees it. */
static void
write_answer(struct following *w, struct json *rec)
{
	if (!w->broken && is_reader_gone())
		w->broken = -1;
	if (!w->broken && jsonl_write(STDOUT_FILENO, rec) < 0)
		w->broken = errno == EPIPE ? -1 : 1;
	json_free(rec);
}

static struct entry *
find_entry(struct following *w, const char *id)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->v[i].id, id) == 0)
			return &w->v[i];
	return NULL;
}

static void
start_server(struct following *w, const char *id, struct json *spec)
{
	struct entry *e = find_entry(w, id);
	struct json *rec;
	struct fleet *f;

	if (e && e->fleet) {
		rec = fleet_make_failed(id, "it is already running");
		json_free(spec);
		write_answer(w, rec);
		return;
	}
	if (!e) {
		e = MEM_ADD(w->v, w->n, w->cap);
		e->id = mem_str(id);
	}
	f = fleet_start(w->shared, spec, &rec);
	e->fleet = f;
	if (!f) {
		free(e->id);
		*e = w->v[--w->n];
	}
	write_answer(w, rec);
}

static void
stop_server(struct following *w, const char *id)
{
	struct entry *e = find_entry(w, id);
	struct json *rec;

	if (!e)
		rec = fleet_make_failed(id, "it is not running");
	else {
		if (e->fleet)
			fleet_stop(e->fleet, &rec);
		else /* its end was reported when it happened */
			rec = fleet_make_stopped(id);
		free(e->id);
		*e = w->v[--w->n];
	}
	write_answer(w, rec);
}

static void
refuse_spec(struct following *w, const struct json *spec, const char *where,
    const char *why)
{
	const char *id = json_get_str(spec, "id");
	char *text = mem_printf("%s: %s", where, why);

	w->trouble = true;
	write_answer(w, fleet_make_failed(id ? id : "", text));
	free(text);
}

static void
handle_line(struct following *w, const char *line, size_t len)
{
	char where[40];
	const char *why = NULL, *action;
	struct json *spec;
	char *id;

	snprintf(where, sizeof where, "stdin:%zu", ++w->lineno);
	if (strspn(line, " \t\r") == len)
		return;
	spec = json_parse(line, len, &why, NULL);
	if (!spec || json_type(spec) != JSON_OBJECT)
		refuse_spec(w, NULL, where, why ? why : "not an object");
	else if (record_check(spec, where) < 0)
		refuse_spec(w, spec, where, "not a valid record");
	else if (!record_is(spec, "spec"))
		refuse_spec(w, spec, where, "not a 'spec' record");
	else {
		action = json_get_str(spec, "action");
		id = mem_str(json_get_str(spec, "id"));
		if (!action || strcmp(action, "start") == 0) {
			start_server(w, id, spec);
			spec = NULL;
		} else if (strcmp(action, "stop") == 0)
			stop_server(w, id);
		else
			refuse_spec(
			    w, spec, where, "'action' is not start or stop");
		free(id);
	}
	json_free(spec);
}

/* Reads input and handles its lines. Returns 0 at the end of input, else 1. */
static int
read_input(struct following *w)
{
	char buf[65536], *line, *end;
	ssize_t n = read(STDIN_FILENO, buf, sizeof buf);
	size_t done;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (n < 0) {
		w->trouble = true;
		err_fail_sys("cannot read stdin");
	}
	if (n <= 0)
		return 0;
	str_addn(&w->in, buf, (size_t)n);
	line = w->in.s;
	while (!w->broken && !halt_reason(w->shared->halt, NULL) &&
	    (end = memchr(line, '\n', w->in.len - (size_t)(line - w->in.s)))) {
		*end = '\0';
		handle_line(w, line, (size_t)(end - line));
		line = end + 1;
	}
	done = (size_t)(line - w->in.s);
	w->in.len -= done;
	memmove(w->in.s, line, w->in.len);
	w->in.s[w->in.len] = '\0';
	return 1;
}

static void
report_dead_servers(struct following *w)
{
	struct json *rec;

	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].fleet && fleet_check_end(w->v[i].fleet, &rec)) {
			fleet_stop(w->v[i].fleet, NULL);
			w->v[i].fleet = NULL;
			write_answer(w, rec);
		}
}

/* Waits for one event and handles it. Returns 0 at the end of input, else 1. */
static int
handle_next_event(struct following *w)
{
	struct pollfd *fd;
	size_t n = 3;
	int rc = 1;

	for (size_t i = 0; i < w->n; i++)
		n += w->v[i].fleet ? fleet_count_nodes(w->v[i].fleet) : 0;
	fd = mem_array(n, sizeof *fd);
	fd[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	fd[1] =
	    (struct pollfd){.fd = halt_fd(w->shared->halt), .events = POLLIN};
	fd[2] = (struct pollfd){.fd = STDOUT_FILENO};
	n = 3;
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].fleet) {
			fleet_fill_fds(w->v[i].fleet, fd + n);
			n += fleet_count_nodes(w->v[i].fleet);
		}
	if (poll(fd, n, -1) < 0) {
		if (errno != EINTR)
			err_die("cannot wait: %s", strerror(errno));
	} else if (fd[2].revents) {
		w->broken = -1;
	} else if (!fd[1].revents) {
		report_dead_servers(w);
		if (fd[0].revents)
			rc = read_input(w);
	}
	free(fd);
	return rc;
}

int
follow(struct shared *shared)
{
	struct following w = {.shared = shared};
	size_t left;

	while (!w.broken && !halt_reason(shared->halt, NULL))
		if (handle_next_event(&w) == 0)
			break;
	left = w.in.len;
	if (left && !w.broken && !halt_reason(shared->halt, NULL)) {
		w.trouble = true;
		err_say("stdin:%zu: torn record: the last line has no newline",
		    w.lineno + 1);
	}
	for (size_t i = 0; i < w.n; i++) {
		fleet_stop(w.v[i].fleet, NULL);
		free(w.v[i].id);
	}
	free(w.v);
	str_free(&w.in);
	if (w.broken < 0)
		return -1;
	return w.trouble || w.broken ? 2 : 0;
}
