#include "tracefile.h"
#include "err.h"
#include "hash.h"
#include "inputs.h"
#include "json.h"
#include "mem.h"
#include "sink.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define WINDOW (15 + 16) /* the largest, in the gzip format */
#define LEVEL 6
#define PLAIN_MOST 65536 /* bytes that wait to be compressed */
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
	z_stream gzip; /* with the compressed bytes that were read */
	bool gzip_ended;
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
	unsigned char inbuf[PIECE], outbuf[PIECE];
};

/* --- reading */

static int
set_error(struct tracefile *t, const char *what)
{
	str_clear(&t->error);
	return str_fail(&t->error, "%s: offset %llu: %s", t->path,
	    (unsigned long long)(t->offset - t->gzip.avail_in), what);
}

/* Reads more of the file. Returns 0, also at its end, or -1. */
static int
read_piece(struct tracefile *t)
{
	ssize_t n;

	if (t->gzip.avail_in || t->eof)
		return 0;
	do
		n = read(t->fd, t->inbuf, PIECE);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return str_fail(&t->error, "%s: %s", t->path, strerror(errno));
	t->gzip.next_in = t->inbuf;
	t->gzip.avail_in = (uInt)n;
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
		t->gzip.avail_in--;
		if (*t->gzip.next_in++ == '\n')
			return 0;
		str_addc(line, (char)t->gzip.next_in[-1]);
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

	t->path = mem_str(inputs_name(path));
	t->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
				       : open(path, O_RDONLY | O_CLOEXEC);
	if (inflateInit2(&t->gzip, WINDOW) != Z_OK)
		err_die("out of memory");
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
	int rc = Z_OK;

	while (!t->nout) {
		if (t->gzip_ended)
			return 0;
		if (read_piece(t) < 0)
			return -1;
		t->gzip.next_out = t->outbuf;
		t->gzip.avail_out = PIECE;
		rc = inflate(&t->gzip, Z_NO_FLUSH);
		if (rc == Z_MEM_ERROR)
			err_die("out of memory");
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return set_error(
			    t, "broken: the gzip stream is not valid");
		t->gzip_ended = rc == Z_STREAM_END;
		t->out = (const char *)t->outbuf;
		t->nout = PIECE - t->gzip.avail_out;
		if (!t->nout && !t->gzip_ended && t->eof)
			return set_error(
			    t, "truncated: the file ends too early");
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
	inflateEnd(&t->gzip);
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

/* --- writing */

struct tracefile_writer {
	const char *name;
	int fd;
	bool begun;
	z_stream gzip;
	struct hash *hash; /* of the records; NULL at the end */
	struct str plain, packed;
	struct tracefile_totals totals;
	uint64_t last_us;
};

struct tracefile_writer *
tracefile_writer_new(int fd, const char *name)
{
	struct tracefile_writer *w = mem_new(sizeof *w);

	w->fd = fd;
	w->name = name;
	if (deflateInit2(&w->gzip, LEVEL, Z_DEFLATED, WINDOW, 8,
		Z_DEFAULT_STRATEGY) != Z_OK)
		err_die("out of memory");
	w->hash = hash_begin(HASH_SHA256);
	return w;
}

static int
write_packed(struct tracefile_writer *w)
{
	int rc =
	    w->packed.len ? sink_write(w->fd, w->packed.s, w->packed.len) : 0;

	str_clear(&w->packed);
	return rc < 0 ? err_fail_sys("cannot write '%s'", w->name) : 0;
}

int
tracefile_writer_begin(struct tracefile_writer *w, const struct json *head)
{
	struct json *j = json_object();

	w->begun = true;
	json_set_str(j, "type", "trace");
	json_set_num(j, "v", 1);
	for (head = json_first(head); head; head = json_next(head))
		json_set(j, json_key(head), json_dup(head));
	json_append_line(&w->packed, j);
	json_free(j);
	return write_packed(w);
}

static void
put_number(struct tracefile_writer *w, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		str_addc(&w->plain, (char)(v | 0x80));
	str_addc(&w->plain, (char)v);
}

static void
put_text(struct tracefile_writer *w, const char *s, size_t n)
{
	put_number(w, n);
	str_addn(&w->plain, s, n);
}

/* Compresses what waits; 'flush' is as zlib's. */
static int
compress_plain(struct tracefile_writer *w, int flush)
{
	unsigned char piece[16384];
	z_stream *z = &w->gzip;

	if (!w->begun && tracefile_writer_begin(w, NULL) < 0)
		return -1;
	if (w->plain.len)
		hash_add(w->hash, w->plain.s, w->plain.len);
	z->next_in = (unsigned char *)w->plain.s;
	z->avail_in = (uInt)w->plain.len;
	do {
		z->next_out = piece;
		z->avail_out = sizeof piece;
		if (deflate(z, flush) == Z_STREAM_ERROR)
			err_die("deflate: %s", z->msg ? z->msg : "?");
		str_addn(&w->packed, piece, sizeof piece - z->avail_out);
	} while (!z->avail_out);
	str_clear(&w->plain);
	return write_packed(w);
}

int
tracefile_writer_flush(struct tracefile_writer *w)
{
	return compress_plain(w, Z_SYNC_FLUSH);
}

int
tracefile_writer_connect(
    struct tracefile_writer *w, const char *address, uint32_t *number)
{
	if (w->totals.conns == TRACEFILE_CONNS_MOST)
		return err_fail("'%s': more than %d connections", w->name,
		    TRACEFILE_CONNS_MOST);
	put_number(w, 1);
	put_text(w, address, strlen(address));
	*number = (uint32_t)w->totals.conns++;
	return 0;
}

int
tracefile_writer_add(
    struct tracefile_writer *w, const struct tracefile_command *c)
{
	uint64_t at = c->at_us > w->last_us ? c->at_us : w->last_us;

	if (at > TRACEFILE_US_MOST)
		return err_fail("'%s': a command comes more than %d years "
				"after the first",
		    w->name, TRACEFILE_YEARS_MOST);
	put_number(w, c->omitted ? 3 : 2);
	put_number(w, at - w->last_us);
	put_number(w, c->conn);
	put_number(w, c->db);
	put_number(w, c->n);
	for (size_t i = 0; i < c->n; i++)
		put_text(w, c->words[i].s, c->words[i].n);
	w->last_us = at;
	w->totals.commands++;
	return w->plain.len > PLAIN_MOST ? compress_plain(w, Z_NO_FLUSH) : 0;
}

int
tracefile_writer_end(
    struct tracefile_writer *w, struct tracefile_totals *totals)
{
	struct json *j = json_object();
	char hex[HASH_HEX];
	int rc;

	put_number(w, 0);
	rc = compress_plain(w, Z_FINISH);
	hash_end(w->hash, hex);
	w->hash = NULL;
	snprintf(w->totals.id, sizeof w->totals.id, "%.16s", hex);
	json_set_str(j, "id", w->totals.id);
	w->totals.seconds = (double)w->last_us / 1e6;
	json_set_num(j, "commands", (double)w->totals.commands);
	json_set_num(j, "connections", (double)w->totals.conns);
	json_set_num(j, "seconds", w->totals.seconds);
	str_addc(&w->packed, '\n');
	json_append_line(&w->packed, j);
	json_free(j);
	*totals = w->totals;
	return rc < 0 ? rc : write_packed(w);
}

void
tracefile_writer_free(struct tracefile_writer *w)
{
	if (!w)
		return;
	deflateEnd(&w->gzip);
	if (w->hash)
		hash_end(w->hash, NULL);
	str_free(&w->plain);
	str_free(&w->packed);
	free(w);
}
