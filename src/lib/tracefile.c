#include "tracefile.h"
#include "gzip.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536
#define LINE_MOST 65536 /* bytes of the first and of the last line */

/* Where a word begins in 'bytes', which moves as it grows. */
struct place {
	size_t at, n;
};

struct tracefile {
	char *path;
	int fd;
	bool eof, ended;
	struct json *head;
	struct gzip *gzip;
	const char *in; /* compressed bytes that were read */
	size_t nin;
	uint64_t offset; /* in the file, of the end of 'in' */
	uint64_t size;   /* 0: not known */
	const char *out; /* plain bytes */
	size_t nout;
	uint64_t at_us, commands, conns;
	struct str bytes; /* of the words of a command */
	struct place *places;
	struct tracefile_word *words;
	size_t places_cap, words_cap;
	struct str error;
	char inbuf[PIECE], outbuf[PIECE];
};

static int
set_error(struct tracefile *t, const char *what)
{
	str_clear(&t->error);
	return str_fail(&t->error, "%s: offset %llu: %s", t->path,
	    (unsigned long long)(t->offset - t->nin), what);
}

/* Reads more of the file. Returns 0, also at its end, or -1. */
static int
read_piece(struct tracefile *t)
{
	ssize_t n;

	if (t->nin || t->eof)
		return 0;
	do
		n = read(t->fd, t->inbuf, PIECE);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return str_fail(&t->error, "%s: %s", t->path, strerror(errno));
	t->in = t->inbuf;
	t->nin = (size_t)n;
	t->offset += (uint64_t)n;
	t->eof = n == 0;
	return 0;
}

/* Reads a line from what is not compressed. Returns 0 or -1. */
static int
read_line(struct tracefile *t, struct str *line)
{
	while (line->len < LINE_MOST) {
		if (read_piece(t) < 0)
			return -1;
		if (t->eof)
			return set_error(
			    t, "truncated: a line of JSON is missing");
		t->nin--;
		if (*t->in == '\n') {
			t->in++;
			return 0;
		}
		str_addc(line, *t->in++);
	}
	return set_error(t, "not a trace: its first line is too long");
}

static int
read_head(struct tracefile *t)
{
	struct str line = {0};
	const char *type;
	int rc = read_line(t, &line);

	if (rc == 0)
		t->head =
		    json_parse(line.s ? line.s : "", line.len, NULL, NULL);
	str_free(&line);
	type = json_get_str(t->head, "type");
	if (rc == 0 && (!type || strcmp(type, "trace") != 0))
		return set_error(t, "not a trace of vkb-record");
	if (rc == 0 && json_get_num(t->head, "v", 0) != 1)
		return set_error(t, "a trace of another version");
	return rc;
}

struct tracefile *
tracefile_open(const char *path, char **why)
{
	struct tracefile *t = mem_new(sizeof *t);
	struct stat s;

	t->path = mem_str(strcmp(path, "-") == 0 ? "stdin" : path);
	t->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
				       : open(path, O_RDONLY | O_CLOEXEC);
	t->gzip = gzip_reader();
	if (t->fd < 0)
		str_printf(&t->error, "%s: %s", t->path, strerror(errno));
	else if (fstat(t->fd, &s) == 0 && S_ISREG(s.st_mode))
		t->size = (uint64_t)s.st_size;
	if (t->fd >= 0 && read_head(t) == 0)
		return t;
	*why = str_take(&t->error);
	tracefile_close(t);
	return NULL;
}

const struct json *
tracefile_head(const struct tracefile *t)
{
	return t->head;
}

/* Makes plain bytes available. Returns 1, 0 at the end, or -1. */
static int
inflate_piece(struct tracefile *t)
{
	long n;
	int end = 0;

	while (!t->nout) {
		if (read_piece(t) < 0)
			return -1;
		n = gzip_get(t->gzip, &t->in, &t->nin, t->outbuf, PIECE, &end);
		if (n < 0)
			return set_error(
			    t, "broken: the gzip stream is not valid");
		if (end)
			return 0;
		if (n == 0 && t->eof)
			return set_error(
			    t, "truncated: the file ends too early");
		t->out = t->outbuf;
		t->nout = (size_t)n;
	}
	return 1;
}

static int
get_byte(struct tracefile *t, unsigned char *b)
{
	if (!t->nout) {
		int rc = inflate_piece(t);

		if (rc <= 0)
			return rc < 0 ? rc
				      : set_error(t, "broken: END is missing");
	}
	*b = (unsigned char)*t->out++;
	t->nout--;
	return 0;
}

static int
get_number(struct tracefile *t, uint64_t most, const char *what, uint64_t *v)
{
	unsigned char b = 0x80;

	*v = 0;
	for (unsigned shift = 0; b & 0x80; shift += 7) {
		if (get_byte(t, &b) < 0)
			return -1;
		if (shift == 63 && b > 1)
			return set_error(t, what);
		*v |= (uint64_t)(b & 0x7f) << shift;
	}
	return *v <= most ? 0 : set_error(t, what);
}

/* Adds n bytes to t->bytes, as they come: 'n' may be wrong. */
static int
get_bytes(struct tracefile *t, size_t n)
{
	size_t part;
	int rc;

	while (n) {
		rc = inflate_piece(t);
		if (rc <= 0)
			return rc < 0 ? rc
				      : set_error(t, "broken: END is missing");
		part = n < t->nout ? n : t->nout;
		str_addn(&t->bytes, t->out, part);
		t->out += part;
		t->nout -= part;
		n -= part;
	}
	return 0;
}

static int
read_words(struct tracefile *t, size_t count)
{
	uint64_t n;

	for (size_t i = 0; i < count; i++) {
		if (get_number(t, TRACEFILE_BYTES_MOST,
			"broken: a word is too long", &n) < 0)
			return -1;
		if (t->bytes.len + n > TRACEFILE_COMMAND_MOST)
			return set_error(t, "broken: a command is too long");
		t->places =
		    mem_grow(t->places, i, &t->places_cap, sizeof *t->places);
		t->places[i] = (struct place){t->bytes.len, n};
		if (get_bytes(t, n) < 0)
			return -1;
	}
	return 0;
}

static int
read_command(struct tracefile *t, struct tracefile_command *c)
{
	uint64_t gap, conn, db, n;

	if (get_number(
		t, TRACEFILE_US_MOST, "broken: a time is too late", &gap) < 0 ||
	    get_number(t, UINT32_MAX, "broken: a connection", &conn) < 0 ||
	    get_number(t, INT32_MAX, "broken: a database", &db) < 0 ||
	    get_number(t, TRACEFILE_WORDS_MOST,
		"broken: a command has too many words", &n) < 0)
		return -1;
	if (conn >= t->conns)
		return set_error(
		    t, "broken: a command of an unknown connection");
	if (!n)
		return set_error(t, "broken: a command without words");
	if (gap > TRACEFILE_US_MOST - t->at_us)
		return set_error(t, "broken: a time is too late");
	if (read_words(t, n) < 0)
		return -1;
	t->at_us += gap;
	t->commands++;
	while (t->words_cap < n)
		t->words = mem_grow(
		    t->words, t->words_cap, &t->words_cap, sizeof *t->words);
	for (size_t i = 0; i < n; i++)
		t->words[i] = (struct tracefile_word){
		    (t->bytes.s ? t->bytes.s : "") + t->places[i].at,
		    t->places[i].n};
	*c = (struct tracefile_command){.at_us = t->at_us,
	    .conn = (uint32_t)conn,
	    .db = (uint32_t)db,
	    .n = n,
	    .words = t->words};
	return 1;
}

/* Parses the last line. Returns 0, or -1 if it is not one. */
static int
parse_totals(const char *s, size_t n, struct tracefile_totals *to)
{
	struct json *j = json_parse(s, n, NULL, NULL);
	double commands = json_get_num(j, "commands", NAN);
	double conns = json_get_num(j, "connections", NAN);
	const char *id = json_get_str(j, "id");

	to->seconds = json_get_num(j, "seconds", NAN);
	snprintf(to->id, sizeof to->id, "%s", id ? id : "");
	json_free(j);
	if (!(*to->id && commands >= 0 && commands < 1e18 && conns >= 0 &&
		conns <= TRACEFILE_CONNS_MOST && to->seconds >= 0))
		return -1;
	to->commands = (uint64_t)commands;
	to->conns = (uint64_t)conns;
	return 0;
}

/* Reads the lines after END. Returns 0 or -1. */
static int
read_end(struct tracefile *t)
{
	struct tracefile_totals totals;
	struct str line = {0};
	int rc = t->nout ? 1 : inflate_piece(t);

	if (rc > 0)
		return set_error(t, "broken: records after END");
	if (rc == 0)
		rc = read_line(t, &line);
	if (rc == 0 && !line.len)
		rc = read_line(t, &line);
	if (rc == 0 &&
	    (parse_totals(line.s, line.len, &totals) < 0 ||
		totals.commands != t->commands || totals.conns != t->conns))
		rc = set_error(t,
		    "broken: the last line does not agree with the "
		    "records");
	str_free(&line);
	t->ended = rc == 0;
	return rc;
}

static int
read_address(struct tracefile *t, const char **address)
{
	uint64_t n;

	if (get_number(t, LINE_MOST, "broken: an address is too long", &n) <
		0 ||
	    get_bytes(t, n) < 0)
		return -1;
	if (t->conns++ == TRACEFILE_CONNS_MOST)
		return set_error(t, "broken: too many connections");
	str_addc(&t->bytes, '\0');
	*address = t->bytes.s;
	return 1;
}

int
tracefile_next(
    struct tracefile *t, struct tracefile_command *c, const char **address)
{
	uint64_t kind;
	int rc;

	*c = (struct tracefile_command){0};
	*address = NULL;
	str_clear(&t->bytes);
	if (t->error.len)
		return -1;
	if (t->ended)
		return 0;
	if (get_number(t, 3, "broken: an unknown kind of record", &kind) < 0)
		return -1;
	if (kind == 0)
		return read_end(t);
	if (kind == 1)
		return read_address(t, address);
	rc = read_command(t, c);
	c->omitted = kind == 3;
	return rc;
}

const char *
tracefile_error(const struct tracefile *t)
{
	return t->error.len ? t->error.s : "";
}

double
tracefile_done(const struct tracefile *t)
{
	return t->size ? fmin(1, (double)t->offset / (double)t->size) : 0;
}

void
tracefile_close(struct tracefile *t)
{
	if (!t)
		return;
	if (t->fd >= 0)
		close(t->fd);
	gzip_free(t->gzip);
	json_free(t->head);
	str_free(&t->bytes);
	str_free(&t->error);
	free(t->places);
	free(t->words);
	free(t->path);
	free(t);
}

int
tracefile_totals(const char *path, struct tracefile_totals *totals, char **why)
{
	struct tracefile *t = tracefile_open(path, why);
	char end[4096], *line = NULL;
	ssize_t n = 0;
	int rc = -1;

	if (!t)
		return -1;
	if (t->size)
		n = pread(t->fd, end, sizeof end,
		    t->size > sizeof end ? (off_t)(t->size - sizeof end) : 0);
	if (n > 1 && end[n - 1] == '\n')
		line = memrchr(end, '\n', (size_t)n - 1);
	if (line)
		rc = parse_totals(
		    line + 1, (size_t)(end + n - line - 2), totals);
	if (rc < 0 && !t->size)
		*why = mem_printf("%s: not a regular file", t->path);
	else if (rc < 0)
		*why = mem_printf("%s: offset %llu: truncated: the last line, "
				  "which vkb-record writes at the end, is "
				  "missing",
		    t->path, (unsigned long long)t->size);
	tracefile_close(t);
	return rc;
}
