#include "monitor.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "monline.h"
#include "recorder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 200 /* between two looks at *stop */
#define FLUSH_NS 1000000000
#define ASK_MS 10000

static bool
is_script(const struct monline *l)
{
	return l->naddress == 3 && memcmp(l->address, "lua", 3) == 0;
}

static int
record_line(struct recorder *r, const struct monline *l)
{
	long conn = recorder_find_conn(r, l->address, l->naddress, false);

	return conn < 0
	    ? -1
	    : recorder_add(r, l->us, conn, l->db, is_script(l), l->words, l->n);
}

int
monitor_read(struct recorder *r, FILE *in, const char *name)
{
	struct monline l = {0};
	unsigned long long offset = 0;
	const char *why = NULL;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int rc = 0;

	while (rc == 0 && (n = getline(&line, &cap, in)) > 0) {
		if (line[n - 1] != '\n')
			why = "truncated: the line has no end";
		else if (n - 1 == 2 && memcmp(line, "OK", 2) == 0)
			why = NULL; /* the reply to MONITOR itself */
		else {
			n -= n > 1 && line[n - 2] == '\r';
			why = monline_parse(line, (size_t)n - 1, &l);
			if (!why)
				rc = record_line(r, &l);
			n += line[n - 1] == '\r';
		}
		if (why)
			rc = err_fail("%s: offset %llu: not a line of MONITOR: "
				      "%s",
			    name, offset, why);
		offset += (unsigned long long)n;
	}
	if (rc == 0 && ferror(in))
		rc = err_fail_sys("cannot read '%s'", name);
	monline_free(&l);
	free(line);
	return rc;
}

/*
 * Records a reply of MONITOR. Returns 1; 0 if it belongs to the PING of 'mark',
 * which is NULL before that was sent; -1 after reporting an error.
 */
static int
record_reply(struct recorder *r, const struct reply *reply, struct monline *l,
    const char *mark)
{
	const char *text = reply_text(reply), *why = "it is not a text";

	if (mark && (reply_type(reply) == REPLY_ERROR || reply_is(reply, mark)))
		return 0;
	if (text)
		why = monline_parse(text, reply_size(reply), l);
	if (why)
		return err_fail("MONITOR: the server sent no line: %s", why);
	if (mark && l->n == 2 && l->words[1].n == strlen(mark) &&
	    memcmp(l->words[1].s, mark, l->words[1].n) == 0)
		return 0;
	return record_line(r, l) < 0 ? -1 : 1;
}

static int
start_monitor(struct client *c)
{
	struct reply *r = CLIENT_CALL(c, ASK_MS, "MONITOR");
	int rc = 0;

	if (!r)
		rc = err_fail("MONITOR: %s", client_error(c));
	else if (!reply_is(r, "OK"))
		rc = err_fail("MONITOR: %s",
		    reply_text(r) ? reply_text(r) : "it is not known");
	reply_free(r);
	return rc;
}

/* Records until the time or the user ends it. Returns 0 or -1. */
static int
record_until(struct recorder *r, struct client *c, struct monline *l,
    int64_t end, const volatile int *stop)
{
	struct reply *reply;
	int64_t now = clock_ns(), flush = now + FLUSH_NS;
	int rc = 0;

	while (rc >= 0 && !*stop && (now = clock_ns()) < end) {
		int64_t left = (end - now) / 1000000 + 1;

		reply = client_next(c, left < WAIT_MS ? (int)left : WAIT_MS);
		if (reply)
			rc = record_reply(r, reply, l, NULL);
		else if (errno != ETIMEDOUT)
			rc = err_fail("MONITOR: %s", client_error(c));
		reply_free(reply);
		if (rc >= 0 && now > flush) {
			rc = recorder_flush(r);
			flush = now + FLUSH_NS;
		}
	}
	return rc < 0 ? -1 : 0;
}

/*
 * Records what the server has got but not yet sent: its answer to a PING comes
 * behind all of that. Returns 0 or -1.
 */
static int
record_rest(struct recorder *r, struct client *c, struct monline *l)
{
	char mark[64];
	struct reply *reply;
	int rc;

	snprintf(mark, sizeof mark, "vkb-record %ld %lld", (long)getpid(),
	    (long long)clock_ns());
	reply = CLIENT_CALL(c, ASK_MS, "PING", mark);
	while (reply && (rc = record_reply(r, reply, l, mark)) > 0) {
		reply_free(reply);
		reply = client_next(c, ASK_MS);
	}
	if (!reply)
		return err_fail("MONITOR: the last commands are missing: %s",
		    *client_error(c) ? client_error(c)
				     : "the server sends no more of them");
	reply_free(reply);
	return rc;
}

int
monitor_live(struct recorder *r, struct client *c, double seconds,
    const volatile int *stop)
{
	struct monline l = {0};
	int64_t end =
	    seconds > 0 ? clock_ns() + (int64_t)(seconds * 1e9) : INT64_MAX;
	int rc = start_monitor(c);

	if (rc == 0)
		rc = record_until(r, c, &l, end, stop);
	if (rc == 0)
		rc = record_rest(r, c, &l);
	monline_free(&l);
	return rc;
}
