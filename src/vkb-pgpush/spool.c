#include "spool.h"
#include "json.h"
#include "mem.h"
#include "names.h"
#include "scratch.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)1 << 18)
#define NAME_MAX_BYTES 63 /* more the server would cut off */

struct block {
	off_t at;
	size_t len;
};

struct spool {
	struct names *keys;
	struct spool_column *cols;
	size_t ncols, colcap, rows;
	struct scratch *scratch;
	struct block *blocks;
	size_t nblocks, blockcap;
	struct str out, text;
	size_t row; /* where the row at work begins in 'out' */
	/* reading */
	char *in;
	size_t inlen, incap, at, next;
	struct spool_value *values;
};

/* A value in the file; its text and a NUL follow. */
struct head {
	uint32_t col, kind, len;
};

/* Names that are taken: ours, and those each table has. */
static bool
reserved(const char *key)
{
	static const char *const taken[] = {"", "id", "created_at", "ctid",
	    "xmin", "xmax", "cmin", "cmax", "tableoid", "vkb_session",
	    "vkb_case", "vkb_subject", "vkb_index", "vkb_record", "test_type"};

	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(taken[i], key) == 0)
			return true;
	return false;
}

/* One that cannot be a name gets one of its own, with a hash of the key. */
static char *
name_of(const char *key)
{
	struct str s = {0};
	size_t n = NAME_MAX_BYTES - 9;

	str_add(&s, "");
	str_visible(&s, key);
	if (strcmp(s.s, key) == 0 && s.len <= NAME_MAX_BYTES && !reserved(key))
		return str_take(&s);
	if (s.len > n) {
		while (((unsigned char)s.s[n] & 0xc0) == 0x80)
			n--;
		s.len = n;
		s.s[n] = '\0';
	}
	str_printf(&s, "_%08llx",
	    str_hash(STR_HASH, key, strlen(key)) & 0xffffffffULL);
	return str_take(&s);
}

static size_t
column(struct spool *s, const char *key)
{
	size_t id = names_id(s->keys, key);

	if (id < s->ncols)
		return id;
	s->cols = mem_grow(s->cols, s->ncols, &s->colcap, sizeof *s->cols);
	s->cols[s->ncols++] =
	    (struct spool_column){.key = mem_str(key), .name = name_of(key)};
	return id;
}

struct spool *
spool_new(const char *tmpdir)
{
	/* No key of a run ends in a line break and begins with one. */
	static const char *const own[] = {"vkb_session", "vkb_case",
	    "vkb_subject", "vkb_index", "test_type", "vkb_record"};
	struct spool *s = mem_new(sizeof *s);
	char *key;

	s->keys = names_new();
	s->scratch = scratch_new(tmpdir);
	for (size_t i = 0; i < SPOOL_OWN; i++) {
		key = mem_printf("\n%s\n", own[i]);
		column(s, key);
		free(s->cols[i].name);
		s->cols[i].name = mem_str(own[i]);
		free(key);
	}
	return s;
}

void
spool_free(struct spool *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->ncols; i++) {
		free(s->cols[i].key);
		free(s->cols[i].name);
	}
	names_free(s->keys);
	scratch_free(s->scratch);
	str_free(&s->out);
	str_free(&s->text);
	free(s->cols);
	free(s->blocks);
	free(s->in);
	free(s->values);
	free(s);
}

static void
value(struct spool *s, size_t col, enum coltype_value kind, const char *text,
    size_t len)
{
	struct head h = {(uint32_t)col, kind, (uint32_t)len};

	str_addn(&s->out, &h, sizeof h);
	str_addn(&s->out, text, len + 1);
	s->cols[col].n++;
}

/* The row's length in bytes stands before it, filled in at its end. */
void
spool_row(struct spool *s, const char *where)
{
	uint32_t len = 0;

	s->row = s->out.len;
	str_addn(&s->out, &len, sizeof len);
	str_addn(&s->out, where, strlen(where) + 1);
}

void
spool_put(struct spool *s, const char *key, const struct json *j)
{
	enum coltype_value kind;
	const char *text = json_str(j);
	size_t col;

	if (json_type(j) == JSON_NULL)
		return;
	kind = json_type(j) == JSON_STRING ? COLTYPE_STRING
	    : json_type(j) == JSON_NUMBER  ? COLTYPE_NUMBER
	    : json_type(j) == JSON_BOOL    ? COLTYPE_BOOL
					   : COLTYPE_NESTED;
	if (!text) {
		str_clear(&s->text);
		json_append(&s->text, j);
		text = s->text.s;
	}
	col = column(s, key);
	coltype_see(&s->cols[col].seen, kind, text, json_num(j, 0));
	value(s, col, kind, text, strlen(text));
}

void
spool_own(
    struct spool *s, size_t col, enum coltype_value kind, const char *text)
{
	if (col == SPOOL_TYPE)
		coltype_see(&s->cols[col].seen, kind, text, 0);
	value(s, col, kind, text, strlen(text));
}

static int
flush(struct spool *s)
{
	struct block b = {.len = s->out.len};

	if (!b.len)
		return 0;
	b.at = scratch_add(s->scratch, s->out.s, s->out.len);
	if (b.at < 0)
		return -1;
	s->blocks =
	    mem_grow(s->blocks, s->nblocks, &s->blockcap, sizeof *s->blocks);
	s->blocks[s->nblocks++] = b;
	str_clear(&s->out);
	return 0;
}

int
spool_end(struct spool *s)
{
	uint32_t len = (uint32_t)(s->out.len - s->row);

	memcpy(s->out.s + s->row, &len, sizeof len);
	s->rows++;
	return s->out.len < BLOCK ? 0 : flush(s);
}

size_t
spool_rows(const struct spool *s)
{
	return s->rows;
}

const struct spool_column *
spool_columns(const struct spool *s, size_t *n)
{
	*n = s->ncols;
	return s->cols;
}

void
spool_rewind(struct spool *s)
{
	s->inlen = s->at = s->next = 0;
	free(s->values);
	s->values = mem_array(s->ncols, sizeof *s->values);
}

/* The next block: 1, 0 after the last, -1. */
static int
more(struct spool *s)
{
	const struct block *b;

	if (flush(s) < 0)
		return -1;
	if (s->next == s->nblocks)
		return 0;
	b = &s->blocks[s->next++];
	if (b->len > s->incap) {
		s->in = mem_resize(s->in, b->len, 1);
		s->incap = b->len;
	}
	s->inlen = b->len;
	s->at = 0;
	return scratch_read(s->scratch, b->at, s->in, b->len) < 0 ? -1 : 1;
}

int
spool_next(
    struct spool *s, const char **where, const struct spool_value **values)
{
	uint32_t len;
	const char *p, *end;
	struct head h;
	int rc = s->at == s->inlen ? more(s) : 1;

	if (rc <= 0)
		return rc;
	memcpy(&len, s->in + s->at, sizeof len);
	p = s->in + s->at + sizeof len;
	end = s->in + s->at + len;
	s->at += len;
	*where = p;
	p += strlen(p) + 1;
	memset(s->values, 0, s->ncols * sizeof *s->values);
	while (p < end) {
		memcpy(&h, p, sizeof h);
		p += sizeof h;
		s->values[h.col] = (struct spool_value){h.kind, p, h.len};
		p += h.len + 1;
	}
	*values = s->values;
	return 1;
}
