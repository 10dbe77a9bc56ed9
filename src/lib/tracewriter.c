#include "tracefile.h"
#include "err.h"
#include "gzip.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "sink.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_MOST 65536 /* bytes that wait to be compressed */

struct tracewriter {
	const char *name;
	int fd;
	bool begun;
	struct gzip *gzip;
	struct hash *hash; /* of the records; NULL at the end */
	struct str plain, packed;
	struct tracefile_totals totals;
	uint64_t last_us;
};

struct tracewriter *
tracewriter_new(int fd, const char *name)
{
	struct tracewriter *w = mem_new(sizeof *w);

	w->fd = fd;
	w->name = name;
	w->gzip = gzip_writer();
	w->hash = hash_begin(HASH_SHA256);
	return w;
}

static int
write_packed(struct tracewriter *w)
{
	int rc =
	    w->packed.len ? sink_write(w->fd, w->packed.s, w->packed.len) : 0;

	str_clear(&w->packed);
	return rc < 0 ? err_fail_sys("cannot write '%s'", w->name) : 0;
}

int
tracewriter_begin(struct tracewriter *w, const struct json *head)
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
put_number(struct tracewriter *w, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		str_addc(&w->plain, (char)(v | 0x80));
	str_addc(&w->plain, (char)v);
}

static void
put_text(struct tracewriter *w, const char *s, size_t n)
{
	put_number(w, n);
	str_addn(&w->plain, s, n);
}

static int
compress_plain(struct tracewriter *w, enum gzip_how how)
{
	if (!w->begun && tracewriter_begin(w, NULL) < 0)
		return -1;
	if (w->plain.len)
		hash_add(w->hash, w->plain.s, w->plain.len);
	gzip_put(w->gzip, w->plain.s ? w->plain.s : "", w->plain.len, how,
	    &w->packed);
	str_clear(&w->plain);
	return write_packed(w);
}

int
tracewriter_flush(struct tracewriter *w)
{
	return compress_plain(w, GZIP_FLUSH);
}

int
tracewriter_connect(
    struct tracewriter *w, const char *address, uint32_t *number)
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
tracewriter_add(struct tracewriter *w, const struct tracefile_command *c)
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
	return w->plain.len > PLAIN_MOST ? compress_plain(w, GZIP_MORE) : 0;
}

int
tracewriter_end(struct tracewriter *w, struct tracefile_totals *totals)
{
	struct json *j = json_object();
	char hex[HASH_HEX];
	int rc;

	put_number(w, 0);
	rc = compress_plain(w, GZIP_END);
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
tracewriter_free(struct tracewriter *w)
{
	if (!w)
		return;
	gzip_free(w->gzip);
	if (w->hash)
		hash_end(w->hash, NULL);
	str_free(&w->plain);
	str_free(&w->packed);
	free(w);
}
