#include "runrecord.h"
#include "jsonhash.h"
#include "jsontext.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 48  /* of a record and of the objects in it */
#define AHEAD 12   /* expected members tried before a look-up */
#define REPEATED 3 /* objects that are usually equal in the next line */

/* Where each member of the record is stored; record_types[] has its type. */
static const struct binding {
	const char *path;
	size_t at;
} bindings[] = {
#define BIND(path, member)                                \
	{                                                 \
		path, offsetof(struct run_record, member) \
	}
    BIND("type", type), BIND("v", version), BIND("subject", subject),
    BIND("config", config), BIND("env", env), BIND("about", about),
    BIND("series", series), BIND("run.looks", looks), BIND("run.until", until),
    BIND("artifacts", artifacts), BIND("errors", errors), BIND("flat", flat),
    BIND("status", status), BIND("run.session", session),
    BIND("run.started", started), BIND("bound", bound), BIND("error", error),
    BIND("run.index", index), BIND("run.block", block),
    BIND("run.order", order), BIND("metrics", metrics), BIND("hist", hists)
#undef BIND
};

/* A member that record_types[] lists. */
struct field {
	const char *key;
	size_t n;
	enum json_type type;
	bool required;
	bool bound;
	bool hashed;
	size_t at;       /* offset in struct run_record, if it is bound */
	size_t repeated; /* index in 'last' plus 1; 0: none */
	size_t first, children;
	uint64_t hash; /* of the key */
};

struct run_record_reader {
	struct field fields[FIELDS];
	size_t nfields, ntop; /* all; those of the record itself */
	struct str last[REPEATED];
	struct run_metric *metrics;
	struct run_hist *hists;
	size_t metriccap, histcap;
	struct str *names; /* of the metrics of the last record, in order */
	size_t nnames, namecap, named; /* 'named' are valid */
	char **texts;                  /* strings with escapes resolved */
	size_t ntexts, textcap;
};

static void
bind_field(struct field *f, const char *path)
{
	static const char *const repeated[REPEATED] = {
	    "subject", "config", "env"};

	f->hashed = true;
	for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
		if (strcmp(bindings[i].path, path) == 0) {
			f->bound = true;
			f->at = bindings[i].at;
		}
	for (size_t i = 0; i < REPEATED; i++)
		if (strcmp(repeated[i], path) == 0) {
			f->repeated = i + 1;
			f->hashed = false;
		}
}

static void
add_field(
    struct run_record_reader *r, const struct record_key *k, const char *key)
{
	struct field *f = &r->fields[r->nfields++];

	f->key = key;
	f->n = strlen(key);
	f->type = k->type;
	f->required = k->required;
	f->hash = jsonhash_key(key, f->n);
	bind_field(f, k->path);
}

/* Adds the members of the record first, then those of the objects in it. */
static void
compile_fields(struct run_record_reader *r, const struct record_key *keys)
{
	static const struct record_key common[] = {
	    {"type", JSON_STRING, true, ""}, {"v", JSON_NUMBER, true, ""}};

	add_field(r, &common[0], "type");
	add_field(r, &common[1], "v");
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

struct run_record_reader *
run_record_reader_new(void)
{
	struct run_record_reader *r = mem_new(sizeof *r);
	const struct record_type *t = record_types;

	while (strcmp(t->name, "run") != 0)
		t++;
	compile_fields(r, t->keys);
	r->metrics = mem_grow(NULL, 0, &r->metriccap, sizeof *r->metrics);
	return r;
}

static void
free_texts(struct run_record_reader *r)
{
	while (r->ntexts)
		free(r->texts[--r->ntexts]);
}

void
run_record_reader_free(struct run_record_reader *r)
{
	if (!r)
		return;
	free_texts(r);
	free(r->texts);
	for (size_t i = 0; i < REPEATED; i++)
		str_free(&r->last[i]);
	for (size_t i = 0; i < r->nnames; i++)
		str_free(&r->names[i]);
	free(r->names);
	free(r->metrics);
	free(r->hists);
	free(r);
}

/* ---- one line */

/* Source and destination of one line. */
struct reading {
	struct run_record_reader *r;
	struct jsonscan c;
	struct run_record *to;
};

/* Resolves the escapes of a string. */
static void
resolve_text(struct run_record_reader *r, struct jsonscan_text *t)
{
	struct str s = {0};

	if (!t->escaped)
		return;
	jsontext_resolve(&s, t);
	*t = (struct jsonscan_text){.n = s.len};
	r->texts = mem_grow(r->texts, r->ntexts, &r->textcap, sizeof *r->texts);
	t->s = r->texts[r->ntexts++] = str_take(&s);
}

static bool
read_text(struct reading *x, struct jsonscan_text *t, uint64_t *hash)
{
	if (!jsonscan_string(&x->c, t))
		return false;
	resolve_text(x->r, t);
	*hash = jsonhash_string(t->s, t->n);
	return true;
}

static bool
read_number(struct reading *x, double *v, uint64_t *hash)
{
	if (!jsonscan_number(&x->c, v))
		return false;
	*hash = jsonhash_number(*v);
	return true;
}

/* Reads an object that is usually equal to the last one. If the text begins
 * with the whole last object, it is that object: its last bracket ends it. */
static bool
read_repeated(struct reading *x, struct str *last, struct jsonscan_text *t)
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

/* Reads the next name in "metrics", usually that of the record before. */
static bool
read_metric_name(struct reading *x, struct jsonscan_keys *o, size_t i,
    struct jsonscan_text *name)
{
	struct run_record_reader *r = x->r;

	if (i < r->named && (i == 0 || o->expected) &&
	    jsonscan_expect(&x->c, o, r->names[i].s, r->names[i].len)) {
		*name = (struct jsonscan_text){
		    r->names[i].s, r->names[i].len, false};
		return true;
	}
	if (!jsonscan_member(&x->c, o, name))
		return false;
	if (i == r->nnames) {
		r->names = mem_grow(
		    r->names, r->nnames, &r->namecap, sizeof *r->names);
		r->names[r->nnames++] = (struct str){0};
	}
	str_clear(&r->names[i]);
	str_addn(&r->names[i], name->s, name->n);
	r->named = i + 1;
	return true;
}

static bool
read_metrics(struct reading *x, uint64_t *hash)
{
	struct run_record *to = x->to;
	struct run_record_reader *r = x->r;
	struct jsonscan_keys o;
	struct jsonscan_text name;
	uint64_t sum = 0, h;
	bool escaped = false;

	jsonscan_object(&x->c, &o);
	while (read_metric_name(x, &o, to->nmetrics, &name)) {
		struct run_metric *m;

		escaped |= name.escaped;

		r->metrics = mem_grow(r->metrics, to->nmetrics, &r->metriccap,
		    sizeof *r->metrics);
		m = &r->metrics[to->nmetrics++];
		resolve_text(r, &name);
		m->name = name;
		if (!read_number(x, &m->value, &h))
			return false;
		sum += jsonhash_member(name.s, name.n, h);
	}
	if (escaped)
		r->named =
		    0; /* resolved names do not match the text of a line */
	to->metrics = r->metrics;
	*hash = jsonhash_object(sum);
	return !x->c.failed;
}

static bool
read_hists(struct reading *x, uint64_t *hash)
{
	struct run_record *to = x->to;
	struct run_record_reader *r = x->r;
	struct jsonscan_keys o;
	struct jsonscan_text name;
	uint64_t sum = 0, h;

	jsonscan_object(&x->c, &o);
	while (jsonscan_member(&x->c, &o, &name)) {
		struct run_hist *m;

		r->hists = mem_grow(
		    r->hists, to->nhists, &r->histcap, sizeof *r->hists);
		m = &r->hists[to->nhists++];
		resolve_text(r, &name);
		*m = (struct run_hist){.name = name};
		if (jsonscan_peek(&x->c) == '"'
			? !read_text(x, &m->text, &h)
			: !jsonscan_value(&x->c, NULL, &h))
			return false;
		sum += jsonhash_member(name.s, name.n, h);
	}
	to->hists = r->hists;
	*hash = jsonhash_object(sum);
	return !x->c.failed;
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
	case JSON_NULL:
		return first == 'n';
	default:
		return first == '-' || (first >= '0' && first <= '9');
	}
}

static bool
read_bound(struct reading *x, const struct field *f, uint64_t *hash)
{
	void *to = (char *)x->to + f->at;

	if (f->at == offsetof(struct run_record, metrics))
		return read_metrics(x, hash);
	if (f->at == offsetof(struct run_record, hists))
		return read_hists(x, hash);
	if (f->repeated)
		return read_repeated(x, &x->r->last[f->repeated - 1], to);
	if (f->type == JSON_STRING)
		return read_text(x, to, hash);
	if (f->type == JSON_NUMBER)
		return read_number(x, to, hash);
	return jsonscan_value(&x->c, to, hash);
}

static const struct field *
find_field(const struct field *v, size_t n, const struct jsonscan_text *key)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].n == key->n && memcmp(v[i].key, key->s, key->n) == 0)
			return &v[i];
	return NULL;
}

/* The fields of an object, and which of them were read. */
struct members {
	const struct field *v;
	size_t n;
	size_t next; /* members usually come in the order of the table */
	uint64_t seen;
	struct jsonscan_keys keys;
};

/* Reads the key of the next member; *f is NULL if the table lacks it. */
static bool
read_member_key(struct reading *x, struct members *m, const struct field **f,
    struct jsonscan_text *key)
{
	for (size_t i = m->next; i < m->n && i < m->next + AHEAD; i++)
		if (!(m->seen >> i & 1) &&
		    jsonscan_expect(&x->c, &m->keys, m->v[i].key, m->v[i].n)) {
			*f = &m->v[i];
			m->next = i + 1;
			m->seen |= UINT64_C(1) << i;
			return true;
		}
	if (!jsonscan_member(&x->c, &m->keys, key))
		return false;
	resolve_text(x->r, key);
	*f = find_field(m->v, m->n, key);
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
    struct reading *, const struct field *, size_t n, uint64_t *sum);

static bool
read_field(struct reading *x, const struct field *f, uint64_t *hash)
{
	if (f && !has_type(jsonscan_peek(&x->c), f->type))
		return false;
	if (f && f->children) {
		if (!read_members(
			x, x->r->fields + f->first, f->children, hash))
			return false;
		*hash = jsonhash_object(*hash);
		return true;
	}
	return f && f->bound ? read_bound(x, f, hash)
			     : jsonscan_value(&x->c, NULL, hash);
}

/* Reads an object; the table lists n of its members. *sum is the sum of the
 * hashes of its members. */
static bool
read_members(
    struct reading *x, const struct field *fields, size_t n, uint64_t *sum)
{
	struct members m = {.v = fields, .n = n};
	struct jsonscan_text key;
	const struct field *f;
	uint64_t h;

	*sum = 0;
	if (!jsonscan_object(&x->c, &m.keys))
		return false;
	while (read_member_key(x, &m, &f, &key)) {
		if (!read_field(x, f, &h))
			return false;
		if (!f)
			*sum += jsonhash_member(key.s, key.n, h);
		else if (f->hashed)
			*sum += jsonhash_of(f->hash, h);
	}
	return has_required(&m) && !x->c.failed;
}

bool
run_record_read(struct run_record_reader *r, struct run_record *to,
    const char *line, size_t n)
{
	struct reading x = {.r = r, .to = to};
	const char *why;
	size_t at;

	free_texts(r);
	*to = (struct run_record){.index = -1, .block = -1, .order = -1};
	jsonscan_begin(&x.c, line, n);
	if (!read_members(&x, r->fields, r->ntop, &to->hash) ||
	    jsonscan_end(&x.c, &why, &at) < 0 ||
	    !jsonscan_is(&to->type, "run") || to->version != 1) {
		r->named = 0; /* the rejected line may repeat a name */
		return false;
	}
	to->ok = jsonscan_is(&to->status, "ok");
	return !to->ok || to->metrics;
}
