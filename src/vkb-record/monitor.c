#include "monitor.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
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
is_script(const struct monitor_line *l)
{
	return l->naddress == 3 && memcmp(l->address, "lua", 3) == 0;
}

static int
record_line(struct recorder *r, const struct monitor_line *l)
{
	long conn = recorder_find_conn(r, l->address, l->naddress, false);

	return conn < 0
	    ? -1
	    : recorder_add(r, l->us, conn, l->db, is_script(l), l->words, l->n);
}

int
monitor_read(struct recorder *r, FILE *in, const char *name)
{
	struct monitor_line l = {0};
	unsigned long long offset = 0;
	const char *why = NULL;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	bool any = false;
	int rc = 0;

	while (rc == 0 && (n = getline(&line, &cap, in)) > 0) {
		if (line[n - 1] != '\n')
			why = "truncated: the line has no end";
		else if (n - 1 == 2 && memcmp(line, "OK", 2) == 0)
			why = NULL; /* the reply to MONITOR itself */
		else {
			n -= n > 1 && line[n - 2] == '\r';
			why = monitor_parse(line, (size_t)n - 1, &l);
			if (!why)
				rc = record_line(r, &l);
			any = true;
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
	else if (rc == 0 && !any)
		rc = err_fail(
		    "%s: no client sent a command while MONITOR ran", name);
	monitor_free_line(&l);
	free(line);
	return rc;
}

/*
 * Records a reply of MONITOR. Returns 1; 0 if it belongs to the PING of 'mark',
 * which is NULL before that was sent; -1 after reporting an error.
 */
static int
record_reply(struct recorder *r, const struct reply *reply,
    struct monitor_line *l, const char *mark)
{
	const char *text = reply_text(reply), *why = "it is not a text";

	if (mark && (reply_type(reply) == REPLY_ERROR || reply_is(reply, mark)))
		return 0;
	if (text)
		why = monitor_parse(text, reply_size(reply), l);
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
record_until(struct recorder *r, struct client *c, struct monitor_line *l,
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
record_rest(struct recorder *r, struct client *c, struct monitor_line *l)
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
	struct monitor_line l = {0};
	int64_t end =
	    seconds > 0 ? clock_ns() + (int64_t)(seconds * 1e9) : INT64_MAX;
	int rc = start_monitor(c);

	if (rc == 0)
		rc = record_until(r, c, &l, end, stop);
	if (rc == 0)
		rc = record_rest(r, c, &l);
	monitor_free_line(&l);
	return rc;
}

/* A text that is being parsed. */
struct parser {
	const char *p, *end;
};

static bool
skip_text(struct parser *r, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, text, n) != 0)
		return false;
	r->p += n;
	return true;
}

/* Reads at least 'least' digits, whose number is at most 'most'. */
static bool
read_digits(struct parser *r, size_t least, uint64_t most, uint64_t *v)
{
	const char *begin = r->p;

	*v = 0;
	for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
		*v = *v * 10 + (uint64_t)(*r->p - '0');
		if (*v > most)
			return false;
	}
	return (size_t)(r->p - begin) >= least;
}

static int
get_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads the characters after a backslash. Returns the character, or -1. */
static int
read_escape(struct parser *r)
{
	static const char from[] = "nrtab\\\"", to[] = "\n\r\t\a\b\\\"";
	const char *at;
	int c;

	if (r->p == r->end)
		return -1;
	if (*r->p == 'x') {
		if (r->end - r->p < 3 || get_hex(r->p[1]) < 0 ||
		    get_hex(r->p[2]) < 0)
			return -1;
		c = get_hex(r->p[1]) * 16 + get_hex(r->p[2]);
		r->p += 3;
		return c;
	}
	at = *r->p ? strchr(from, *r->p) : NULL;
	r->p++;
	return at ? to[at - from] : -1;
}

/* Reads a quoted word; its opening quote was read. Returns 0 or -1. */
static int
read_word(struct parser *r, struct str *to)
{
	int c;

	while (r->p < r->end && *r->p != '"') {
		if (*r->p != '\\') {
			str_addc(to, *r->p++);
			continue;
		}
		r->p++;
		c = read_escape(r);
		if (c < 0)
			return -1;
		str_addc(to, (char)c);
	}
	return skip_text(r, "\"") ? 0 : -1;
}

static const char *
read_words(struct parser *r, struct monitor_line *l)
{
	size_t at;

	l->n = 0;
	str_clear(&l->bytes);
	while (skip_text(r, " \"")) {
		if (l->n == TRACEFILE_WORDS_MOST)
			return "too many words";
		l->words = mem_grow(l->words, l->n, &l->cap, sizeof *l->words);
		at = l->bytes.len;
		if (read_word(r, &l->bytes) < 0)
			return "a word is truncated or has an unknown escape";
		l->words[l->n++].n = l->bytes.len - at;
	}
	if (r->p != r->end || !l->n)
		return "words in quotes are missing";
	at = 0;
	for (size_t i = 0; i < l->n; i++) {
		l->words[i].s = (l->bytes.s ? l->bytes.s : "") + at;
		at += l->words[i].n;
	}
	return l->words[0].n ? NULL : "the name of the command is empty";
}

const char *
monitor_parse(const char *s, size_t n, struct monitor_line *l)
{
	struct parser r = {s, s + n};
	uint64_t seconds, us, db;
	const char *close;

	if (!read_digits(&r, 1, UINT64_C(100000000000), &seconds) ||
	    !skip_text(&r, ".") || r.end - r.p < 6 ||
	    !read_digits(&r, 6, 999999, &us) || !skip_text(&r, " ["))
		return "it does not begin with a time and '['";
	if (!read_digits(&r, 1, INT32_MAX, &db) || !skip_text(&r, " "))
		return "the number of the database is missing";
	close = memmem(r.p, (size_t)(r.end - r.p), "] \"", 3);
	if (!close)
		return "the client's address, or the command, is missing";
	l->us = seconds * 1000000 + us;
	l->db = (unsigned)db;
	l->address = r.p;
	l->naddress = (size_t)(close - r.p);
	r.p = close + 1;
	return read_words(&r, l);
}

void
monitor_free_line(struct monitor_line *l)
{
	free(l->words);
	str_free(&l->bytes);
}

static void
append_word(struct str *s, const struct tracefile_word *w)
{
	static const char from[] = "\n\r\t\a\b\\\"", to[] = "nrtab\\\"";
	const char *at;
	char c;

	str_add(s, " \"");
	for (size_t i = 0; i < w->n; i++) {
		c = w->s[i];
		at = c ? strchr(from, c) : NULL;
		if (at) {
			str_addc(s, '\\');
			str_addc(s, to[at - from]);
		} else if (c >= ' ' && c < 127)
			str_addc(s, c);
		else
			str_printf(s, "\\x%02x", (unsigned char)c);
	}
	str_addc(s, '"');
}

void
monitor_append_line(struct str *s, const struct monitor_line *l)
{
	str_printf(s, "%llu.%06llu [%u %.*s]",
	    (unsigned long long)l->us / 1000000,
	    (unsigned long long)l->us % 1000000, l->db, (int)l->naddress,
	    l->address);
	for (size_t i = 0; i < l->n; i++)
		append_word(s, &l->words[i]);
}
