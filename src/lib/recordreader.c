#include "recordreader.h"
#include "err.h"
#include "jsonhash.h"
#include "jsontext.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 48 /* of a record and of the objects in it */
#define AHEAD 12  /* expected members tried before a look-up */

/* A member that record_types[] lists. */
struct field {
	const char *key;
	size_t n;
	enum json_type type;
	bool required;
	const struct record_member *bound; /* NULL: it is not stored */
	struct str last;                   /* the object, if it is repeated */
	size_t first, children;
	uint64_t hash; /* of the key */
};

struct record_reader {
	const char *type;
	const struct record_member *members;
	bool hashed;
	struct field fields[FIELDS];
	size_t nfields, ntop; /* all; those of the record itself */
	struct str *rest;     /* of the line that is being read */
	char **texts;         /* strings with escapes resolved */
	size_t ntexts, textcap;
};

static void
add_field(struct record_reader *r, const struct record_key *k, const char *key)
{
	struct field *f;

	if (r->nfields == FIELDS)
		err_die("record '%s' has more than %d fields", r->type, FIELDS);
	f = &r->fields[r->nfields++];
	f->key = key;
	f->n = strlen(key);
	f->type = k->type;
	f->required = k->required;
	f->hash = jsonhash_key(key, f->n);
	for (const struct record_member *m = r->members; m->path; m++)
		if (strcmp(m->path, k->path) == 0)
			f->bound = m;
}

static bool read_type(struct record_reading *, uint64_t *hash);
static bool read_version(struct record_reading *, uint64_t *hash);

/* Adds the members of the record first, then those of the objects in it. */
static void
compile_fields(struct record_reader *r, const struct record_key *keys)
{
	static const struct record_key common[] = {
	    {"type", JSON_STRING, true}, {"v", JSON_NUMBER, true}};
	static const struct record_member type = {"type", .read = read_type},
					  version = {"v", .read = read_version};

	add_field(r, &common[0], "type");
	r->fields[0].bound = &type;
	add_field(r, &common[1], "v");
	r->fields[1].bound = &version;
	for (const struct record_key *k = keys; k->path; k++)
		if (!strchr(k->path, '.'))
			add_field(r, k, k->path);
	r->ntop = r->nfields;
	for (struct field *f = r->fields; f < r->fields + r->ntop; f++) {
		f->first = r->nfields;
		for (const struct record_key *k = keys; k->path; k++)
			if (strncmp(k->path, f->key, f->n) == 0 &&
			    k->path[f->n] == '.')
				add_field(r, k, k->path + f->n + 1);
		f->children = r->nfields - f->first;
	}
}

struct record_reader *
record_reader_new(
    const char *type, const struct record_member *members, bool hashed)
{
	struct record_reader *r = mem_new(sizeof *r);
	const struct record_type *t = record_types;

	while (strcmp(t->name, type) != 0)
		t++;
	r->type = type;
	r->members = members;
	r->hashed = hashed;
	compile_fields(r, t->keys);
	return r;
}

static void
free_texts(struct record_reader *r)
{
	while (r->ntexts)
		free(r->texts[--r->ntexts]);
}

void
record_reader_free(struct record_reader *r)
{
	if (!r)
		return;
	free_texts(r);
	free(r->texts);
	for (size_t i = 0; i < r->nfields; i++)
		str_free(&r->fields[i].last);
	free(r);
}

void
record_reader_resolve(struct record_reader *r, struct jsonscan_text *t)
{
	struct str s = {0};

	if (!t->escaped)
		return;
	jsontext_resolve(&s, t);
	*t = (struct jsonscan_text){.n = s.len};
	t->s = *MEM_ADD(r->texts, r->ntexts, r->textcap) = str_take(&s);
}

bool
record_reader_text(
    struct record_reading *x, struct jsonscan_text *t, uint64_t *hash)
{
	if (!jsonscan_string(&x->c, t))
		return false;
	record_reader_resolve(x->reader, t);
	if (hash)
		*hash = jsonhash_string(t->s, t->n);
	return true;
}

bool
record_reader_number(struct record_reading *x, double *v, uint64_t *hash)
{
	if (!jsonscan_number(&x->c, v))
		return false;
	if (hash)
		*hash = jsonhash_number(*v);
	return true;
}

static bool
read_type(struct record_reading *x, uint64_t *hash)
{
	struct jsonscan_text t;

	return record_reader_text(x, &t, hash) &&
	    jsonscan_is(&t, x->reader->type);
}

static bool
read_version(struct record_reading *x, uint64_t *hash)
{
	double v;

	return record_reader_number(x, &v, hash) && v == 1;
}

/* Reads an object that is usually equal to the last one. If the text begins
 * with the whole last object, it is that object: its last bracket ends it. */
static bool
read_repeated(
    struct record_reading *x, struct str *last, struct jsonscan_text *t)
{
	struct jsonscan *c = &x->c;

	if (last->len && (size_t)(c->end - c->p) >= last->len &&
	    memcmp(c->p, last->s, last->len) == 0) {
		*t = (struct jsonscan_text){c->p, last->len, false};
		c->p += last->len;
		return true;
	}
	if (!jsonscan_value(c, t, NULL))
		return false;
	str_clear(last);
	str_addn(last, t->s, t->n);
	return true;
}

static bool
has_type(char first, enum json_type type)
{
	switch (type) {
	case JSON_OBJECT:
		return first == '{';
	case JSON_ARRAY:
		return first == '[';
	case JSON_STRING:
		return first == '"';
	case JSON_BOOL:
		return first == 't' || first == 'f';
	default:
		return first == '-' || (first >= '0' && first <= '9');
	}
}

static bool
read_bound(struct record_reading *x, struct field *f, uint64_t *hash)
{
	void *to = (char *)x->to + f->bound->at;

	if (f->bound->read)
		return f->bound->read(x, hash);
	if (f->bound->repeated)
		return read_repeated(x, &f->last, to);
	if (f->type == JSON_STRING)
		return record_reader_text(x, to, hash);
	if (f->type == JSON_NUMBER)
		return record_reader_number(x, to, hash);
	return jsonscan_value(&x->c, to, hash);
}

static struct field *
find_field(struct field *v, size_t n, const struct jsonscan_text *key)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].n == key->n && memcmp(v[i].key, key->s, key->n) == 0)
			return &v[i];
	return NULL;
}

/* The fields of an object, and which of them were read. */
struct members {
	struct field *v;
	size_t n;
	size_t next; /* members usually come in the order of the table */
	uint64_t seen;
	struct jsonscan_keys keys;
};

/* Reads the key of the next member, as it is written; *f is NULL if the table
 * lacks it. */
static bool
read_member_key(struct record_reading *x, struct members *m, struct field **f,
    struct jsonscan_text *key)
{
	struct jsonscan_text plain;

	for (size_t i = m->next; i < m->n && i < m->next + AHEAD; i++)
		if (!(m->seen >> i & 1) &&
		    jsonscan_expect(&x->c, &m->keys, m->v[i].key, m->v[i].n)) {
			*f = &m->v[i];
			*key = (struct jsonscan_text){
			    m->v[i].key, m->v[i].n, false};
			m->next = i + 1;
			m->seen |= UINT64_C(1) << i;
			return true;
		}
	if (!jsonscan_member(&x->c, &m->keys, key))
		return false;
	plain = *key;
	record_reader_resolve(x->reader, &plain);
	*f = find_field(m->v, m->n, &plain);
	if (*f) {
		m->next = (size_t)(*f - m->v) + 1;
		m->seen |= UINT64_C(1) << (*f - m->v);
	}
	return true;
}

static bool
has_required(const struct members *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].required && !(m->seen >> i & 1))
			return false;
	return true;
}

static bool read_members(
    struct record_reading *, struct field *, size_t n, uint64_t *sum);

/* Reads a member that is not stored; of the record itself, it goes to the rest.
 */
static bool
read_unbound(
    struct record_reading *x, const struct jsonscan_text *key, uint64_t *hash)
{
	struct str *rest = x->reader->rest;
	struct jsonscan_text v;

	if (!jsonscan_value(&x->c, &v, hash))
		return false;
	if (!rest || x->c.depth != 1)
		return true;
	jsontext_comma(rest);
	str_addc(rest, '"');
	str_addn(rest, key->s, key->n);
	str_addn(rest, "\":", 2);
	str_addn(rest, v.s, v.n);
	return true;
}

static bool
read_field(struct record_reading *x, struct field *f,
    const struct jsonscan_text *key, uint64_t *hash)
{
	uint64_t sum;

	if (f && !has_type(jsonscan_peek(&x->c), f->type))
		return false;
	if (f && f->children) {
		if (!read_members(
			x, x->reader->fields + f->first, f->children, &sum))
			return false;
		if (hash)
			*hash = jsonhash_object(sum);
		return true;
	}
	return f && f->bound ? read_bound(x, f, hash)
			     : read_unbound(x, key, hash);
}

/* Reads an object; the table lists n of its members. *sum is the sum of the
 * hashes of its members. */
static bool
read_members(
    struct record_reading *x, struct field *fields, size_t n, uint64_t *sum)
{
	struct members m = {.v = fields, .n = n};
	struct jsonscan_text key;
	struct field *f;
	uint64_t h, *hash = x->reader->hashed ? &h : NULL;

	*sum = 0;
	if (!jsonscan_object(&x->c, &m.keys))
		return false;
	while (read_member_key(x, &m, &f, &key)) {
		if (!read_field(x, f, &key, hash))
			return false;
		if (!hash || (f && f->bound && f->bound->repeated))
			continue;
		if (!f)
			record_reader_resolve(x->reader, &key);
		*sum += f ? jsonhash_mix(f->hash, h)
			  : jsonhash_member(key.s, key.n, h);
	}
	return has_required(&m) && !x->c.failed;
}

bool
record_reader_read(struct record_reader *r, void *to, const char *line,
    size_t n, uint64_t *hash, struct str *rest)
{
	struct record_reading x = {.reader = r, .to = to};
	const char *why;
	uint64_t sum;
	size_t at;

	free_texts(r);
	r->rest = rest;
	if (rest)
		str_addc(rest, '{');
	jsonscan_begin(&x.c, line, n);
	if (!read_members(&x, r->fields, r->ntop, &sum) ||
	    jsonscan_end(&x.c, &why, &at) < 0)
		return false;
	if (rest)
		str_addc(rest, '}');
	if (hash)
		*hash = sum;
	return true;
}
