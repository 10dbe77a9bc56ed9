#include "frames.h"
#include "flat.h"
#include "json.h"
#include "jsonhash.h"
#include "mem.h"
#include "runrecord.h"
#include "spool.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * SPOOL_FRAMES) /* a power of two */

/* The name of the metric at some position in the last run, and its column. */
struct name {
	struct str text;
	size_t col;
};

struct frames {
	struct spool *spool;
	struct run_record_reader *reader;
	const char *test_type;
	bool releases;
	struct str *sections; /* of each frame: the JSON texts it is made of */
	size_t *slots;    /* hash table, open addressing: frame, 0 if free */
	size_t timestamp; /* column of the spool */
	struct name *names;
	size_t nnames, namecap;
	struct str key; /* scratch */
};

struct frames *
frames_new(struct spool *spool, const char *test_type, bool releases)
{
	struct frames *f = mem_new(sizeof *f);

	f->spool = spool;
	f->reader = run_record_reader_new();
	f->test_type = test_type;
	f->releases = releases;
	f->sections = mem_array(SPOOL_FRAMES, sizeof *f->sections);
	f->slots = mem_array(SLOTS, sizeof *f->slots);
	f->timestamp = spool_get_column(spool, "timestamp");
	return f;
}

void
frames_free(struct frames *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < SPOOL_FRAMES; i++)
		str_free(&f->sections[i]);
	for (size_t i = 0; i < f->nnames; i++)
		str_free(&f->names[i].text);
	free(f->names);
	run_record_reader_free(f->reader);
	str_free(&f->key);
	free(f->sections);
	free(f->slots);
	free(f);
}

bool
frames_is_index(double v)
{
	return v >= 1 && v < 2147483648. && v == (double)(long)v;
}

void
frames_set_release(struct json *flat, const struct json *run)
{
	const struct json *subject = json_get(run, "subject");
	const char *label = json_get_str(subject, "label");

	if (!json_get_bool(subject, "dirty", false))
		json_set_str(flat, "commit",
		    label ? label : json_get_str(subject, "ref"));
}

void
frames_hash_section(char text[17], const struct json *section)
{
	struct str s = {0};

	json_canonical(&s, section);
	snprintf(text, 17, "%016llx", str_hash(STR_HASH, s.s, s.len));
	str_free(&s);
}

void
frames_make_session(char text[32], const struct json *run)
{
	struct json *identity = flat_identity(run);
	char hash[17];

	frames_hash_section(hash, identity);
	snprintf(text, 32, FRAMES_SESSION "%s", hash);
	json_free(identity);
}

/* Joins the JSON texts of the run's sections, each ended by a NUL. */
static void
build_frame_key(struct str *s, const struct run_record *r)
{
	const struct jsonscan_text *const all[] = {
	    &r->subject, &r->config, &r->env, &r->about};

	str_clear(s);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		str_addn(s, all[i]->s, all[i]->n);
		str_addc(s, '\0');
	}
}

/* Returns the slot of the frame with f->key, or the free slot for it. */
static size_t *
find_frame_slot(struct frames *f)
{
	size_t at = jsonhash_bytes(0, f->key.s, f->key.len) & (SLOTS - 1);
	const struct str *have;

	for (; f->slots[at]; at = (at + 1) & (SLOTS - 1)) {
		have = &f->sections[f->slots[at]];
		if (have->len == f->key.len &&
		    memcmp(have->s, f->key.s, have->len) == 0)
			break;
	}
	return &f->slots[at];
}

static void
fill_frame(struct frames *f, const struct json *run)
{
	static const struct {
		size_t col;
		const char *section;
	} keys[] = {{SPOOL_CASE, "config"}, {SPOOL_SUBJECT, "subject"}};
	struct json *flat = flat_frame(run);
	char hash[17];

	if (f->releases)
		frames_set_release(flat, run);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		frames_hash_section(hash, json_get(run, keys[i].section));
		spool_put_own(f->spool, keys[i].col, COLTYPE_STRING, hash, 16);
	}
	spool_put_own(f->spool, SPOOL_TYPE, COLTYPE_STRING, f->test_type,
	    strlen(f->test_type));
	for (const struct json *j = json_first(flat); j; j = json_next(j))
		spool_put_json(f->spool, json_key(j), j);
	json_free(flat);
}

/* Returns the frame of the run, made if missing; 0 if there is none. */
static size_t
get_frame(
    struct frames *f, const struct run_record *r, const char *line, size_t n)
{
	struct json *run;
	const char *why;
	size_t *at, id;

	build_frame_key(&f->key, r);
	at = find_frame_slot(f);
	if (*at || spool_is_full(f->spool))
		return *at;
	run = json_parse(line, n, &why, NULL);
	if (!run)
		return 0;
	*at = id = spool_begin_frame(f->spool);
	str_addn(&f->sections[id], f->key.s, f->key.len);
	fill_frame(f, run);
	json_free(run);
	return id;
}

/* Returns the column of the metric at position 'at' of the run. */
static size_t
get_metric_column(struct frames *f, size_t at, const struct jsonscan_text *name)
{
	struct name *have;

	while (at >= f->nnames) {
		f->names = mem_grow(
		    f->names, f->nnames, &f->namecap, sizeof *f->names);
		f->names[f->nnames++] = (struct name){0};
	}
	have = &f->names[at];
	if (!have->text.s || have->text.len != name->n ||
	    memcmp(have->text.s, name->s, name->n) != 0) {
		str_clear(&have->text);
		str_addn(&have->text, name->s, name->n);
		have->col =
		    spool_get_column(f->spool, flat_metric(have->text.s));
	}
	return have->col;
}

/* Returns whether each metric has its own column: two names may share one. */
static bool
has_own_columns(struct frames *f, const struct run_record *r, size_t frame)
{
	for (size_t i = 0; i < r->nmetrics; i++) {
		size_t col = get_metric_column(f, i, &r->metrics[i].name);

		if (spool_frame_has(f->spool, frame, col))
			return false;
		for (size_t k = 0; k < i; k++)
			if (f->names[k].col == col)
				return false;
	}
	return true;
}

/* Returns whether a frame and a row can hold all members of the run. */
static bool
is_plain_run(const struct run_record *r)
{
	return r->ok && !r->error.s && !r->series.s && !r->artifacts.s &&
	    !r->errors.s && !r->flat.s;
}

int
frames_add_line(struct frames *f, const char *line, size_t n, const char *where)
{
	struct run_record r;
	char number[32];
	size_t id;
	int len;

	if (!run_record_read(f->reader, &r, line, n) || !is_plain_run(&r) ||
	    !r.session.n || r.session.n > SPOOL_SESSION_MAX ||
	    !frames_is_index(r.index))
		return 0;
	id = get_frame(f, &r, line, n);
	if (!id || !has_own_columns(f, &r, id))
		return 0;
	spool_begin_row(f->spool, where, id);
	spool_put_own(
	    f->spool, SPOOL_SESSION, COLTYPE_STRING, r.session.s, r.session.n);
	len = snprintf(number, sizeof number, "%.0f", r.index);
	spool_put_own(
	    f->spool, SPOOL_INDEX, COLTYPE_NUMBER, number, (size_t)len);
	if (r.started.s && !spool_frame_has(f->spool, id, f->timestamp))
		spool_put_text(
		    f->spool, f->timestamp, r.started.s, r.started.n);
	for (size_t i = 0; i < r.nmetrics; i++)
		spool_put_number(f->spool, f->names[i].col, r.metrics[i].value);
	spool_put_own(f->spool, SPOOL_RECORD, COLTYPE_NESTED, line, n);
	return spool_end_row(f->spool) < 0 ? -1 : 1;
}
