#include "spool.h"
#include "json.h"
#include "mem.h"
#include "intern.h"
#include "scratch.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)1 << 18)
#define NAME_MAX_BYTES COLTYPE_NAME_MAX /* the server cuts longer names */
#define HASH 17                         /* "_" and 16 digits */

struct block {
	off_t at;
	size_t len;
};

struct spool {
	struct intern *keys, *names, *sessions;
	struct spool_column *cols;
	size_t ncols, colcap, rows;
	struct scratch *scratch;
	struct block *blocks;
	size_t nblocks, blockcap;
	struct str out, text;
	size_t row; /* where the current row begins in 'out' */
	/* reading */
	char *in;
	size_t inlen, incap, at, next;
	struct spool_value *values;
	uint32_t *set; /* columns of the current row */
	size_t nset;
};

/* Header of a value in the file; its text and a NUL follow. */
struct head {
	uint32_t col, kind, len;
};

/* Returns whether the name is one of ours or exists in every table. */
static bool
is_reserved_name(const char *key)
{
	static const char *const taken[] = {"", "id", "created_at", "ctid",
	    "xmin", "xmax", "cmin", "cmax", "tableoid", "vkb_session",
	    "vkb_case", "vkb_subject", "vkb_index", "vkb_record", "test_type"};

	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(taken[i], key) == 0)
			return true;
	return false;
}

/* Returns whether the key looks like a name that make_name adds a hash to. */
static bool
has_hash_ending(const char *key)
{
	size_t n = strlen(key);

	return n >= HASH && key[n - HASH] == '_' &&
	    strspn(key + n - HASH + 1, "0123456789abcdef") == HASH - 1;
}

/*
 * Returns the column name of a key: the key itself or, if that is not valid, a
 * part of it and a hash. Caller frees.
 */
static char *
make_name(const char *key, unsigned long long salt)
{
	struct str s = {0};
	size_t n = NAME_MAX_BYTES - HASH;

	str_add(&s, "");
	str_visible(&s, key);
	if (strcmp(s.s, key) == 0 && s.len <= NAME_MAX_BYTES &&
	    !is_reserved_name(key) && !has_hash_ending(key))
		return str_take(&s);
	if (s.len > n) {
		while (((unsigned char)s.s[n] & 0xc0) == 0x80)
			n--;
		s.len = n;
		s.s[n] = '\0';
	}
	str_printf(&s, "_%016llx", str_hash(salt, key, strlen(key)));
	return str_take(&s);
}

/* The same, but never a name that another key has, even if hashes collide. */
static char *
make_unique_name(struct spool *s, const char *key)
{
	unsigned long long salt = STR_HASH;
	char *name = make_name(key, salt);

	while (intern_id(s->names, name) < s->ncols) {
		free(name);
		salt = str_hash(salt, key, strlen(key) + 1);
		name = make_name(key, salt);
	}
	return name;
}

size_t
spool_get_column(struct spool *s, const char *key)
{
	size_t id = intern_id(s->keys, key);

	if (id < s->ncols)
		return id;
	s->cols = mem_grow(s->cols, s->ncols, &s->colcap, sizeof *s->cols);
	s->cols[s->ncols] = (struct spool_column){
	    .key = mem_str(key), .name = make_unique_name(s, key)};
	s->ncols++;
	return id;
}

struct spool *
spool_new(const char *tmpdir)
{
	/* Keys of runs are UTF-8, so none of them begins with 0xff. */
	static const char *const own[] = {"vkb_session", "vkb_case",
	    "vkb_subject", "vkb_index", "test_type", "vkb_record"};
	struct spool *s = mem_new(sizeof *s);
	char *key;

	s->keys = intern_new();
	s->names = intern_new();
	s->sessions = intern_new();
	s->scratch = scratch_new(tmpdir);
	for (size_t i = 0; i < SPOOL_OWN; i++) {
		key = mem_printf("\xff%s", own[i]);
		spool_get_column(s, key);
		free(key);
		free(s->cols[i].key);
		free(s->cols[i].name);
		s->cols[i].key = mem_str(own[i]);
		s->cols[i].name = mem_str(own[i]);
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
	intern_free(s->keys);
	intern_free(s->names);
	intern_free(s->sessions);
	scratch_free(s->scratch);
	str_free(&s->out);
	str_free(&s->text);
	free(s->cols);
	free(s->blocks);
	free(s->in);
	free(s->values);
	free(s->set);
	free(s);
}

/* The row begins with its length, which spool_end_row fills in. */
void
spool_begin_row(struct spool *s, const char *where)
{
	const uint32_t none = 0;

	s->row = s->out.len;
	str_addn(&s->out, &none, sizeof none);
	str_addn(&s->out, where, strlen(where) + 1);
}

static void
append_value(struct spool *s, size_t col, enum coltype_value kind,
    const char *text, size_t len)
{
	struct head h = {(uint32_t)col, kind, (uint32_t)len};

	str_addn(&s->out, &h, sizeof h);
	str_addn(&s->out, text, len);
	str_addc(&s->out, '\0');
	s->cols[col].n++;
}

void
spool_put_json(struct spool *s, const char *key, const struct json *j)
{
	enum coltype_value kind;
	const char *text = json_str(j);
	size_t col = spool_get_column(s, key);

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
	coltype_note_value(&s->cols[col].summary, kind, text, json_num(j, 0));
	append_value(s, col, kind, text, strlen(text));
}

void
spool_put_own(struct spool *s, size_t col, enum coltype_value kind,
    const char *text, size_t len)
{
	if (col == SPOOL_SESSION)
		intern_idn(s->sessions, text, len);
	if (col == SPOOL_TYPE)
		coltype_note_value(&s->cols[col].summary, kind, text, 0);
	append_value(s, col, kind, text, len);
}

void
spool_note_metric(struct spool *s, const char *key)
{
	size_t col = spool_get_column(s, key);

	s->cols[col].measured = true;
}

static int
flush_block(struct spool *s)
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
spool_end_row(struct spool *s)
{
	uint32_t len = (uint32_t)(s->out.len - s->row);

	memcpy(s->out.s + s->row, &len, sizeof len);
	s->rows++;
	return s->out.len < BLOCK ? 0 : flush_block(s);
}

size_t
spool_count_rows(const struct spool *s)
{
	return s->rows;
}

const struct spool_column *
spool_get_columns(const struct spool *s, size_t *n)
{
	*n = s->ncols;
	return s->cols;
}

/* Reads values into 'v', their columns into 'set'. Returns their number. */
static size_t
read_values(
    const char *p, const char *end, struct spool_value *v, uint32_t *set)
{
	struct head h;
	size_t n = 0;

	while (p < end) {
		memcpy(&h, p, sizeof h);
		p += sizeof h;
		v[h.col] = (struct spool_value){h.kind, p, h.len};
		p += h.len + 1;
		set[n++] = h.col;
	}
	return n;
}

void
spool_rewind(struct spool *s)
{
	s->inlen = s->at = s->next = s->nset = 0;
	free(s->values);
	free(s->set);
	s->values = mem_array(s->ncols, sizeof *s->values);
	s->set = mem_array(s->ncols, sizeof *s->set);
}

const struct intern *
spool_get_sessions(const struct spool *s)
{
	return s->sessions;
}

/* Reads the next block. Returns 1, 0 after the last, or -1 (error reported). */
static int
read_block(struct spool *s)
{
	const struct block *b;

	if (flush_block(s) < 0)
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
spool_next(struct spool *s, struct spool_row *row)
{
	uint32_t len;
	const char *p;
	int rc = s->at == s->inlen ? read_block(s) : 1;

	if (rc <= 0)
		return rc;
	memcpy(&len, s->in + s->at, sizeof len);
	row->where = s->in + s->at + sizeof len;
	row->values = s->values;
	for (size_t i = 0; i < s->nset; i++)
		s->values[s->set[i]].kind = 0;
	p = row->where + strlen(row->where) + 1;
	s->nset = read_values(p, s->in + s->at + len, s->values, s->set);
	s->at += len;
	return 1;
}
