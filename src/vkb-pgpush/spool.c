#include "spool.h"
#include "err.h"
#include "folder.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES COLTYPE_NAME_MAX /* the server cuts longer names */
#define HASH 17                         /* "_" and 16 digits */

struct spool {
	struct intern *keys, *names, *sessions;
	struct spool_column *cols;
	size_t ncols, colcap, rows;
	const char *tmpdir;
	FILE *file; /* of rows, each after its length; NULL: none yet */
	struct str row, text;
	/* reading */
	char *in;
	size_t incap;
	struct spool_value *values;
	uint32_t *set; /* columns of the current row */
	size_t nset;
	size_t read; /* rows */
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
	s->tmpdir = tmpdir;
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
	if (s->file)
		fclose(s->file);
	str_free(&s->row);
	str_free(&s->text);
	free(s->cols);
	free(s->in);
	free(s->values);
	free(s->set);
	free(s);
}

void
spool_begin_row(struct spool *s, const char *where)
{
	str_clear(&s->row);
	str_addn(&s->row, where, strlen(where) + 1);
}

static void
append_value(struct spool *s, size_t col, enum coltype_value kind,
    const char *text, size_t len)
{
	struct head h = {(uint32_t)col, kind, (uint32_t)len};

	str_addn(&s->row, &h, sizeof h);
	str_addn(&s->row, text, len);
	str_addc(&s->row, '\0');
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
report_io_error(const struct spool *s)
{
	return err_fail_sys("cannot use a temporary file in '%s'", s->tmpdir);
}

int
spool_end_row(struct spool *s)
{
	int fd;

	if (!s->file) {
		fd = folder_unnamed_file(s->tmpdir);
		if (fd < 0 || !(s->file = fdopen(fd, "w+")))
			return report_io_error(s);
	}
	s->rows++;
	return fwrite(&s->row.len, sizeof s->row.len, 1, s->file) == 1 &&
		fwrite(s->row.s, s->row.len, 1, s->file) == 1
	    ? 0
	    : report_io_error(s);
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

int
spool_rewind(struct spool *s)
{
	s->read = s->nset = 0;
	free(s->values);
	free(s->set);
	s->values = mem_array(s->ncols, sizeof *s->values);
	s->set = mem_array(s->ncols, sizeof *s->set);
	return s->file && fseek(s->file, 0, SEEK_SET) < 0 ? report_io_error(s)
							  : 0;
}

const struct intern *
spool_get_sessions(const struct spool *s)
{
	return s->sessions;
}

int
spool_next(struct spool *s, struct spool_row *row)
{
	const char *p;
	size_t len;

	if (s->read == s->rows)
		return 0;
	s->read++;
	errno = EIO; /* the file was truncated */
	if (fread(&len, sizeof len, 1, s->file) != 1)
		return report_io_error(s);
	if (len > s->incap)
		s->in = mem_resize(s->in, s->incap = len, 1);
	if (fread(s->in, len, 1, s->file) != 1)
		return report_io_error(s);
	row->where = s->in;
	row->values = s->values;
	for (size_t i = 0; i < s->nset; i++)
		s->values[s->set[i]].kind = 0;
	p = row->where + strlen(row->where) + 1;
	s->nset = read_values(p, s->in + len, s->values, s->set);
	return 1;
}
